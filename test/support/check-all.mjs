// Every check there is, in order, a failed one not ending the run; `npm test`. The last line sums them up.
// --embedded-only leaves out the tests on a real Postgres.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const project = fileURLToPath(new URL('../../', import.meta.url));
const { values: options } = parseArgs({ options: { 'embedded-only': { type: 'boolean', default: false } } });
const reports = mkdtempSync(join(tmpdir(), 'check-all-'));
process.once('exit', () => rmSync(reports, { recursive: true, force: true }));

const script = (path, ...rest) => [join(project, path), ...rest];
const tool = (path, ...rest) => script(`node_modules/${path}`, ...rest);
const report = (name) => join(reports, `${name}.json`);
const jestOptions = (name) => ['--reporters=default', '--json', `--outputFile=${report(name)}`];

// The two time zones are those farthest from each other: no result may depend on the machine's.
const steps = [
  { name: 'lint', run: tool('eslint/bin/eslint.js', '.') },
  { name: 'format', run: tool('prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.') },
  { name: 'types', run: tool('typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json') },
  {
    name: 'import direction',
    run: tool(
      'dependency-cruiser/bin/dependency-cruise.mjs',
      '--config',
      '.dependency-cruiser.cjs',
      'src',
      'migrations',
    ),
  },
  { name: 'unused code', run: tool('knip/bin/knip.js', '--no-config-hints') },
  { name: 'build', run: tool('@nestjs/cli/bin/nest.js', 'build') },
  { name: 'openapi.json is current', run: script('dist/src/openapi.js', '--check') },
  {
    name: 'tests on the embedded database',
    run: ['--experimental-vm-modules', ...tool('jest/bin/jest.js', ...jestOptions('embedded'))],
    report: report('embedded'),
    env: { TZ: 'Pacific/Kiritimati', DATABASE_URL: undefined },
    limitMinutes: 25,
  },
  {
    name: 'tests on Postgres',
    run: script('test/support/postgres/run.mjs', '--selectProjects=database', ...jestOptions('postgres')),
    report: report('postgres'),
    env: { TZ: 'Pacific/Midway' },
    limitMinutes: 25,
    skip: options['embedded-only'],
  },
  { name: 'start and stop of the built service', run: script('test/support/smoke.mjs') },
].filter((step) => !step.skip);

let interrupted = false;
let child;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true;
    end(signal);
  });
}

/** Ends the running step, and by force what of it has not ended soon after. */
function end(signal) {
  const { pid } = child;
  child.kill(signal);
  setTimeout(() => killGroup(pid), 15_000).unref();
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // nothing is left
  }
}

/** Resolves with true where the step ended well, within its limit. Nothing that it started outlives it. */
async function execute(step) {
  child = spawn(process.execPath, step.run, {
    cwd: project,
    detached: true, // a process group of its own
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...step.env },
  });
  const minutes = step.limitMinutes ?? 10;
  const limit = setTimeout(() => {
    console.error(`no end within ${minutes} minutes`);
    end('SIGTERM');
  }, minutes * 60_000);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(limit);
  killGroup(child.pid);
  return code === 0;
}

/** A check counts as nothing where it passes and as one failure where it does not; a run of tests as its tests. */
function count(step, succeeded) {
  let counted = { passed: 0, failed: 0 };
  if (step.report) {
    try {
      const results = JSON.parse(readFileSync(step.report, 'utf8'));
      counted = {
        passed: results.numPassedTests,
        // a file that could not be run
        failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      };
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
  return succeeded || counted.failed > 0 ? counted : { ...counted, failed: 1 };
}

const results = [];
for (const [index, step] of steps.entries()) {
  console.log(`\n=== ${index + 1}/${steps.length} ${step.name}`);
  const start = performance.now();
  const succeeded = await execute(step);
  if (interrupted) {
    console.error('interrupted');
    process.exit(130);
  }
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  const { passed, failed } = count(step, succeeded);
  const tests = step.report ? ` (${passed} passed, ${failed} failed)` : '';
  results.push({
    passed,
    failed,
    line: `${failed > 0 ? 'FAILED' : 'ok    '} ${seconds.padStart(6)} s  ${step.name}${tests}`,
  });
  console.log(`--- ${step.name}: ${failed > 0 ? 'FAILED' : 'ok'} after ${seconds} s`);
}

const sum = (key) => results.reduce((total, result) => total + result[key], 0);
console.log(`\n${results.map((result) => result.line).join('\n')}\n`);
process.exitCode = sum('failed') > 0 ? 1 : 0;
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
