import { writeSync } from 'node:fs';

/** Says `N passed, N failed` on the last line of the whole run; a file that could not be run counts as one failed. */
export default class CountReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.once('exit', () => writeSync(1, `${results.numPassedTests} passed, ${failed} failed\n`));
  }
}
