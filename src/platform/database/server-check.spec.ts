import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { addressOf, bootErrorOf, checkServer, poolConfigOf } from './server-check.js';

const SSL_REQUEST_LENGTH = 8;
const url = 'postgresql://ann:s3cret@127.0.0.1:5432/shop';

describe('poolConfigOf', () => {
  it('takes an address of Postgres, special characters percent-encoded', () => {
    expect(addressOf(poolConfigOf('postgres://ann:p%40ss@db.example:6543/shop'))).toBe('ann@db.example:6543/shop');
    expect(addressOf(poolConfigOf('postgresql://ann@%2Ftmp%2Fsocket/shop'))).toBe('ann@/tmp/socket:5432/shop');
  });

  it.each(['mysql://ann:s3cret@host/shop', 'host=db user=ann password=s3cret', 'postgres', 'file:///s3cret'])(
    'refuses %s, without repeating it',
    (text) => {
      expect(() => poolConfigOf(text)).toThrow(/^DATABASE_URL is not a Postgres address: write postgresql:\/\/user/);
    },
  );

  it.each(['postgres://ann:s3cret@host:port/shop', 'postgres://ann:s3/cret@host/shop'])(
    'refuses %s, without repeating it',
    (text) => {
      expect(() => poolConfigOf(text)).toThrow(/^DATABASE_URL cannot be read: write postgresql:\/\/user/);
    },
  );
});

describe('bootErrorOf', () => {
  it.each([
    ['ECONNREFUSED', 'nothing listens there'],
    ['ENOTFOUND', 'the host is unknown'],
    ['28P01', 'the password is wrong'],
    ['3D000', 'there is no such database'],
    ['42501', 'the user has not enough rights'],
    ['25006', 'the server is read-only'],
  ])('explains %s', (code, advice) => {
    const explained = bootErrorOf(Object.assign(new Error('as the driver\nsays it'), { code }), poolConfigOf(url));
    expect(explained?.message).toContain(
      `cannot start on Postgres ann@127.0.0.1:5432/shop (as the driver says it): ${advice}`,
    );
    expect(explained?.message).not.toMatch(/s3cret|\n/);
  });

  it('explains a host whose every address failed', () => {
    const each = Object.assign(new Error('::1'), { code: 'ECONNREFUSED' });
    expect(bootErrorOf(new AggregateError([each, each]), poolConfigOf(url))?.message).toContain(
      'nothing listens there',
    );
  });

  it('leaves alone what is a fault of ours', () => {
    expect(bootErrorOf(Object.assign(new Error('syntax error'), { code: '42601' }), poolConfigOf(url))).toBeUndefined();
    expect(bootErrorOf(new TypeError('x is not a function'), poolConfigOf(url))).toBeUndefined();
  });
});

describe('checkServer', () => {
  let server: Server | undefined;
  afterEach(() => new Promise<unknown>((resolve) => (server ? server.close(resolve) : resolve(undefined))));

  /** A server that lets everybody in and answers every query with one row of text. */
  const postgresThatSays = async (row: string[], columns: [name: string, oid: number][]): Promise<string> => {
    const message = (type: string, body: Buffer): Buffer => {
      const head = Buffer.alloc(5);
      head.write(type);
      head.writeInt32BE(body.length + 4, 1);
      return Buffer.concat([head, body]);
    };
    const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
    const int32 = (value: number): Buffer => Buffer.concat([int16(value >> 16), int16(value & 65_535)]);
    const field = ([name, oid]: [string, number]): Buffer =>
      Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), int32(oid), int16(-1), int32(-1), int16(0)]);
    const value = (text: string): Buffer => Buffer.concat([int32(Buffer.byteLength(text)), Buffer.from(text)]);
    const ready = message('Z', Buffer.from('I'));
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        if (data.length === SSL_REQUEST_LENGTH) return void socket.write('N');
        if (data[0] === 0) socket.write(Buffer.concat([message('R', int32(0)), ready]));
        if (data.toString('latin1', 0, 1) !== 'Q') return;
        socket.write(
          Buffer.concat([
            message('T', Buffer.concat([int16(columns.length), ...columns.map(field)])),
            message('D', Buffer.concat([int16(row.length), ...row.map(value)])),
            message('C', Buffer.from('SELECT 1\0')),
            ready,
          ]),
        );
      });
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `postgresql://ann:s3cret@127.0.0.1:${(server.address() as AddressInfo).port}/shop`;
  };
  const facts: [string, number][] = [
    ['version', 25],
    ['number', 23],
    ['vector', 16],
  ];

  it('accepts a server that is new enough and has pgvector', async () => {
    const address = await postgresThatSays(['14.0', '140000', 't'], facts);
    await expect(checkServer(poolConfigOf(address))).resolves.toEqual({ version: '14.0' });
  });

  it('refuses one that is too old', async () => {
    const address = await postgresThatSays(['13.22', '130022', 't'], facts);
    await expect(checkServer(poolConfigOf(address))).rejects.toThrow(
      /^Postgres 13.22 at ann@127.0.0.1:\d+\/shop is too old: use 14 or newer$/,
    );
  });

  it('refuses one without pgvector', async () => {
    const address = await postgresThatSays(['17.6', '170006', 'f'], facts);
    await expect(checkServer(poolConfigOf(address))).rejects.toThrow(
      /^Postgres at ann@127.0.0.1:\d+\/shop lacks the extension vector: install .*postgresql-17-pgvector\)$/,
    );
  });

  it('refuses an address where nothing listens', async () => {
    const address = await postgresThatSays([], []);
    await new Promise((resolve) => server?.close(resolve));
    server = undefined;
    await expect(checkServer(poolConfigOf(address))).rejects.toMatchObject({
      name: 'BootError',
      message: expect.stringContaining('nothing listens there: start Postgres or correct DATABASE_URL'),
    });
  });

  it('refuses one that will not do what the address asks for', async () => {
    const address = `${await postgresThatSays([], [])}?sslmode=verify-full`;
    await expect(checkServer(poolConfigOf(address))).rejects.toMatchObject({
      name: 'BootError',
      message: expect.stringMatching(/\(The server does not support SSL connections\): correct DATABASE_URL$/),
    });
  });
});
