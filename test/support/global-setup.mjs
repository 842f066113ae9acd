import './typescript.mjs';

/** One database for each Jest worker. */
export default async function setUp({ maxWorkers }) {
  const { startServers } = await import('./test-servers.ts');
  const servers = await startServers(maxWorkers);
  globalThis.testServers = servers;
  process.env.TEST_SERVERS = JSON.stringify(servers.addresses);
}
