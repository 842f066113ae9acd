export default async function tearDown() {
  await globalThis.testServers?.stop();
}
