import { NotFoundException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { ApiError } from './api-error.js';
import { problemOf } from './problem.filter.js';

const failed = (driverError: object): Error => Object.assign(new Error('Query failed'), { driverError });

describe('problemOf', () => {
  it.each([
    [failed({ code: 'ECONNREFUSED' })],
    [failed({ code: '57P01' })],
    [failed({ code: '08006' })],
    [Object.assign(new Error('connect'), { code: 'ECONNRESET' })],
    [new Error('Connection terminated unexpectedly')],
    [new Error('timeout exceeded when trying to connect')],
  ])('says of a database that is gone that it is worth another try: %s', (error) => {
    expect(problemOf(error)).toMatchObject({ status: 503, code: 'service.unavailable' });
  });

  it('keeps what is not meant for the caller to itself', () => {
    for (const error of [
      failed({ code: '23505', detail: 'Key (content)=(secret)' }),
      new Error('secret'),
      null,
      'secret',
    ]) {
      const problem = problemOf(error);
      expect(problem).toMatchObject({ status: 500, code: 'internal.error' });
      expect(JSON.stringify(problem)).not.toContain('secret');
    }
  });

  it('passes on what was meant for the caller', () => {
    expect(problemOf(new ApiError(409, 'turn.conflict', 'Taken.'))).toMatchObject({
      status: 409,
      code: 'turn.conflict',
    });
    expect(problemOf(new NotFoundException('Cannot GET /x'))).toMatchObject({ status: 404, code: 'route.not_found' });
  });
});
