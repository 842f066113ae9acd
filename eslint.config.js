import { defineConfig, globalIgnores } from 'eslint/config';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

const specs = ['**/*.spec.ts', '**/*.e2e-spec.ts', 'test/**/*.ts', 'bench/**/*.ts'];

const explainedDirectives = {
  meta: { type: 'suggestion', schema: [] },
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        if (/^\s*eslint-disable/.test(comment.value) && !/\s--\s+\S/.test(comment.value)) {
          context.report({ loc: comment.loc, message: 'Say why: `eslint-disable… rule -- reason`.' });
        }
      }
    },
  }),
};

const environmentMessage = 'platform/config alone reads the environment; take what you need from its settings.';

const forwardRef = {
  regex: '^@nestjs/common$',
  importNamePattern: '^forwardRef$',
  message: 'Two modules that need each other need an event, or a third one.',
};
const environmentImport = {
  regex: '^(node:)?process$',
  importNamePattern: '^(default|env)$',
  message: environmentMessage,
};
const nestExceptions = {
  regex: '^@nestjs/common$',
  importNamePattern: '.Exception$',
  message: 'Throw ApiError: its code is part of the contract.',
};
// Every signal that any() makes stays on those it was made of, in Node 20 also after it is gone.
const signalOfSignals = {
  object: 'AbortSignal',
  property: 'any',
  message: 'It leaks where one of the signals outlives the call: use withSignal or withDeadline.',
};
const forbidImports = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', 'data/', '.cache/']),
  {
    name: 'everything',
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { local: { rules: { 'explained-directives': explainedDirectives } } },
    rules: {
      'local/explained-directives': 'error',
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'start' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-cond-assign': 'error',
      'no-constant-condition': 'error',
      'no-control-regex': 'off',
      'no-debugger': 'error',
      'no-empty': 'error',
      'no-fallthrough': 'error',
      'no-irregular-whitespace': 'error',
      'no-misleading-character-class': 'error',
      'no-self-compare': 'error',
      'no-sparse-arrays': 'error',
      'no-template-curly-in-string': 'error',
      'no-unreachable': 'error',
      'no-unreachable-loop': 'error',
      'no-unsafe-finally': 'error',
      'no-unsafe-optional-chaining': 'error',
      'no-useless-catch': 'error',
      'no-useless-escape': 'error',
      'object-shorthand': 'error',
      'preserve-caught-error': 'error',
      'prefer-const': 'error',
      'use-isnan': 'error',
      'valid-typeof': 'error',
    },
  },
  {
    name: 'scripts',
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: Object.fromEntries(Object.getOwnPropertyNames(globalThis).map((name) => [name, 'readonly'])),
    },
    rules: {
      'no-undef': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    name: 'typescript',
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // leaves files with decorators alone, where an import of a class is also its injection token
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // the names of a map that other files extend are `keyof Map & string`, and that is more than what stands in it now
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      // what implements an interface that answers with a promise need not await anything
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    name: 'the service',
    files: ['src/**/*.ts', 'migrations/**/*.ts'],
    ignores: specs,
    rules: {
      '@typescript-eslint/explicit-function-return-type': ['error', { allowExpressions: true }],
      '@typescript-eslint/explicit-member-accessibility': ['error', { accessibility: 'no-public' }],
      'no-console': 'error',
    },
  },
  {
    name: 'one subject a file',
    files: ['src/**/*.{ts,mjs}'],
    ignores: specs,
    rules: { 'max-lines': ['error', { max: 300 }] },
  },
  {
    name: 'architecture',
    files: ['src/**/*.{ts,mjs}', 'migrations/**/*.ts'],
    ignores: specs,
    rules: {
      ...forbidImports(forwardRef, environmentImport, nestExceptions),
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: environmentMessage },
        signalOfSignals,
      ],
    },
  },
  {
    name: 'who reads the environment',
    files: ['src/platform/config/**'],
    rules: {
      'no-restricted-properties': ['error', signalOfSignals],
      ...forbidImports(forwardRef, nestExceptions),
    },
  },
  {
    name: 'who translates exceptions',
    files: ['src/platform/http/**'],
    ignores: specs,
    rules: forbidImports(forwardRef, environmentImport),
  },
  {
    name: 'tests',
    files: specs,
    rules: {
      ...forbidImports(forwardRef),
      // bodies of answers are untyped, and what they hold is what the test asserts
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression > MemberExpression[object.name=/^(it|test|describe)$/][property.name="only"]',
          message: 'The other tests would not run.',
        },
      ],
    },
  },
  prettier,
);
