import { describe, expect, it } from '@jest/globals';
import { explain } from './start.js';

describe('a failure to listen', () => {
  it.each([
    [{ code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port: 80 }, /^port 80 is taken: .* PORT /],
    [{ code: 'EADDRNOTAVAIL', syscall: 'listen', address: '192.0.2.1', port: 80 }, /^HOST 192\.0\.2\.1 is no address/],
    [{ code: 'EACCES', syscall: 'listen', address: '127.0.0.1', port: 80 }, /PORT 80: set PORT/],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'nowhere.invalid' }, /^HOST nowhere\.invalid could not/],
    [{ code: 'EAI_AGAIN', syscall: 'getaddrinfo', hostname: 'nowhere.invalid' }, /^HOST nowhere\.invalid could not/],
  ])('is one line that names what to set: %j', (fields, expected) => {
    const said = explain(Object.assign(new Error(`${fields.syscall} ${fields.code}`), fields));
    expect(said).toMatch(expected);
    expect(said).not.toContain('\n');
  });

  it('of an unknown kind is told with its stack', () => {
    expect(explain(Object.assign(new Error('open EACCES'), { code: 'EACCES', syscall: 'open' }))).toMatch(
      /open EACCES\n/,
    );
    expect(explain(new Error('what?'))).toMatch(/^Error: what\?\n\s+at /);
  });
});
