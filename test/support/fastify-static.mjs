// @fastify/static 10 is CommonJS and requires ES modules: Node 20.19 can do that, Jest on Node 20 cannot. In tests that
// boot the application inside Jest the files of /docs are therefore not served; all else of it is.
export default async () => {};
