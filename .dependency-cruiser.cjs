// The import direction of CONTRIBUTING.md: floors, rooms, and no circle. Files at the root of src compose the
// service and may import everything; nothing imports them.

const floors = ['platform', 'core', 'memories', 'processes', 'views'];

/** Rooms of `memories` that may know another one, which is then the lower of the two. */
const allowedPairs = [
  ['skills', 'episodes'],
  ['tool-skills', 'knowledge'],
];

const floorRule = (floor, below) => ({
  name: `floor-${floor}`,
  comment: `${floor} may import ${below.join(', ') || 'nothing else'} of ours`,
  severity: 'error',
  from: { path: `^src/${floor}/` },
  to: { path: `^src/(?!(${[floor, ...below].join('|')})/)` },
});

const pairNames = allowedPairs.map(([from]) => from).join('|');

const roomRules = [
  {
    name: 'memories-know-no-other-room',
    comment: 'rooms of memories meet through an event, or through one of the allowed pairs',
    severity: 'error',
    from: { path: '^src/memories/([^/]+)/', pathNot: `^src/memories/(${pairNames})/` },
    to: { path: '^src/memories/', pathNot: '^src/memories/$1/' },
  },
  ...allowedPairs.map(([from, to]) => ({
    name: `memories-${from}-knows-${to}-only`,
    comment: `of the other rooms of memories, ${from} may import ${to}`,
    severity: 'error',
    from: { path: `^src/memories/${from}/` },
    to: { path: '^src/memories/', pathNot: `^src/memories/(${from}|${to})/` },
  })),
  {
    name: 'promotion-knows-no-other-process',
    comment: 'promotion is told what to write; it imports no other room of processes',
    severity: 'error',
    from: { path: '^src/processes/promotion/' },
    to: { path: '^src/processes/', pathNot: '^src/processes/promotion/' },
  },
];

module.exports = {
  forbidden: [
    floorRule('platform', []),
    floorRule('core', ['platform']),
    floorRule('memories', ['core', 'platform']),
    floorRule('processes', ['memories', 'core', 'platform']),
    floorRule('views', ['memories', 'core', 'platform']),
    ...roomRules,
    {
      name: 'known-floors',
      comment: `a folder of src is one of ${floors.join(', ')}`,
      severity: 'error',
      from: {},
      to: { path: `^src/(?!(${floors.join('|')})/)[^/]+/` },
    },
    {
      name: 'no-circular',
      comment: 'a circle hides that a third thing, or an event, is missing',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circular-rooms',
      comment: 'rooms meet one way: what both need belongs to one of them, or on the floor below',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/[^/]+/[^/]+$' },
      to: { circular: true },
    },
    {
      name: 'models-through-auxiliary',
      comment: 'core/auxiliary alone calls a model: it knows chain, budget and usage',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/[^/]+$', '^src/platform/llm/', '^src/core/auxiliary/', '\\.spec\\.ts$'] },
      to: { path: '^src/platform/llm/' },
    },
    {
      name: 'migrations-stand-alone',
      comment: 'a migration is history: code of today must not change what it did',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { path: '^src/' },
    },
    {
      name: 'no-test-code',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '(^(test|bench|examples)/|\\.spec\\.ts$)' },
    },
    {
      name: 'no-development-packages',
      comment: 'the image holds production dependencies alone',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '^node_modules/@types/' },
    },
    {
      name: 'resolvable',
      comment: 'an import that cannot be followed would escape the rules above',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // imports of types count too
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
