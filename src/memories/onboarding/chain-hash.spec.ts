import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { chainHash } from './chain-hash.js';

const chain = { organization: 'Acme', units: ['Platform', 'Storage'], role: 'Engineer' };

describe('the chain hash', () => {
  it('is the sha-256 of the names from the outermost to the innermost', () => {
    const names = '["Acme","Platform","Storage","Engineer"]';
    expect(chainHash(chain)).toBe(createHash('sha256').update(names).digest('hex'));
  });

  it.each([
    { ...chain, organization: 'Acme 2' },
    { ...chain, units: ['Storage', 'Platform'] },
    { ...chain, units: ['Platform'] },
    { ...chain, units: ['Platform\nStorage'] },
    { ...chain, units: ['Platform', 'Storage', 'Engineer'], role: '' },
    { ...chain, role: 'Lead' },
  ])('is another one for another place: %j', (other) => {
    expect(chainHash(other)).not.toBe(chainHash(chain));
  });
});
