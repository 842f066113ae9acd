import { existsSync, readFileSync } from 'node:fs';
import { clusterSequences, type ToolTrajectory } from '../src/core/similarity/sequence-clusters.js';
import { type Bench, printTable, type Row, timed } from './bench.js';
import { randomNumbers } from './random-numbers.js';

const FILE = new URL('../../shared/data/tau-bench/episodes.normalised.json', import.meta.url);
const THRESHOLDS = [0.5, 0.55, 0.6, 0.65, 0.7];
const COUNTS = [1_000, 2_000, 5_000, 10_000];
const ROUNDS = 5;

interface Labelled extends ToolTrajectory {
  label: string;
}

/** Clusters of tool sequences by themselves, without a service: how well they agree with labels, and how their time grows. */
export async function clustering(_bench: Bench): Promise<void> {
  if (existsSync(FILE)) agreement();
  else console.log('agreement skipped: ../shared/data/tau-bench is absent');
  await growth();
}

/** The successes of tau-bench that wrote something, labelled by what they wrote; clusters of two and more count. */
function agreement(): void {
  const episodes = JSON.parse(readFileSync(FILE, 'utf8')) as { seq: string[]; label: string; ok: boolean }[];
  const items = episodes
    .filter(({ ok, label }) => ok && label !== 'none')
    .map(({ seq, label }, index): Labelled => ({ id: String(index), toolSequence: seq, label }));
  console.log(`${items.length} labelled successes`);
  printTable([
    ['threshold', 'purity', 'NMI', 'coverage', 'clusters'],
    ...THRESHOLDS.map((threshold): Row => {
      const clusters = clusterSequences(items, { threshold, minSize: 2 }).map(({ members }) =>
        members.map(({ label }) => label),
      );
      const { purity, nmi } = scores(clusters);
      const coverage = clusters.flat().length / items.length;
      return [String(threshold), purity.toFixed(2), nmi.toFixed(2), coverage.toFixed(2), String(clusters.length)];
    }),
  ]);
}

/** Purity, and mutual information over the arithmetic mean of both entropies, of clusters given as lists of labels. */
function scores(clusters: string[][]): { purity: number; nmi: number } {
  const labels = clusters.flat();
  const most = clusters.map((labels) => Math.max(...frequencies(labels)));
  const conditional = clusters.reduce(
    (sum, members) => sum + (members.length / labels.length) * entropy(frequencies(members)),
    0,
  );
  const [ofLabels, ofClusters] = [entropy(frequencies(labels)), entropy(clusters.map(({ length }) => length))];
  return {
    purity: most.reduce((sum, count) => sum + count, 0) / labels.length,
    nmi: (2 * (ofLabels - conditional)) / (ofLabels + ofClusters),
  };
}

function frequencies(labels: readonly string[]): number[] {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts.values()];
}

function entropy(counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return -counts.reduce((sum, count) => sum + (count / total) * Math.log(count / total), 0);
}

async function growth(): Promise<void> {
  const rows: Row[] = [['episodes', 'ms', 'clusters', 'exponent since 1,000']];
  let first = 0;
  for (const count of COUNTS) {
    const items = varied(count);
    const times: number[] = [];
    let clusters = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const { ms, value } = await timed(() => Promise.resolve(clusterSequences(items, { threshold: 0.6 }).length));
      times.push(ms);
      clusters = value;
    }
    const best = Math.min(...times);
    first ||= best;
    const exponent = count === COUNTS[0] ? '' : (Math.log(best / first) / Math.log(count / COUNTS[0]!)).toFixed(2);
    rows.push([String(count), best, String(clusters), exponent]);
  }
  printTable(rows);
}

/** Workflows of 3 to 10 out of 60 tools, each followed more or less: a third of the steps is swapped, left out or repeated. */
function varied(count: number): ToolTrajectory[] {
  const next = randomNumbers(20_261_201);
  const pick = (limit: number): number => Math.floor(next() * limit);
  const workflows = Array.from({ length: Math.ceil(count / 20) }, () =>
    Array.from({ length: 3 + pick(8) }, () => `tool-${Math.floor(60 * next() ** 2)}`),
  );
  return Array.from({ length: count }, (_, index) => {
    const workflow = workflows[pick(workflows.length)]!;
    const toolSequence = workflow.flatMap((tool) => {
      const luck = next();
      return luck < 0.1 ? [] : luck < 0.2 ? [tool, tool] : luck < 0.33 ? [`tool-${pick(60)}`] : [tool];
    });
    return { id: String(index), toolSequence: toolSequence.length > 0 ? toolSequence : workflow };
  });
}
