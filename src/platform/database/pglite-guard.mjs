const SYNC = 'S'.charCodeAt(0);
const QUERY = 'Q'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);
const UNTYPED_START_UP = 0;

/**
 * A proxy of a PGlite instance for pglite-socket, which has one backend session for all its connections.
 *
 * Its queue lets another connection in wherever `isInTransaction()` is false, so also between the Parse and the Sync
 * of one parametrised query: answers get mixed up (electric-sql/pglite issue 1046). This proxy answers true while such a
 * batch is open. To be dropped once upstream has mended it.
 *
 * PGlite goes on silently after an exit of Postgres or a WebAssembly trap; here such an exception is told to `onFatal`.
 */
export function guarded(db, onFatal) {
  let batchOpen = false;

  const mainLoopOnce = db.Module._PostgresMainLoopOnce;
  db.Module._PostgresMainLoopOnce = () => {
    try {
      mainLoopOnce();
    } catch (error) {
      if (error?.status !== db.POSTGRES_MAIN_LONGJMP) onFatal(error);
      throw error;
    }
  };

  const own = {
    isInTransaction: () => batchOpen || db.isInTransaction(),

    async execProtocolRawStream(message, options) {
      try {
        await db.execProtocolRawStream(message, options);
      } catch (error) {
        batchOpen = false;
        onFatal(error);
        throw error;
      }
      const type = message[0];
      if (type === SYNC || type === QUERY) batchOpen = false;
      // A terminated client's open batch is ended by the ROLLBACK that follows its disconnection.
      else if (type !== TERMINATE && type !== UNTYPED_START_UP) batchOpen = true;
    },

    async exec(sql, options) {
      batchOpen = false;
      const result = await db.exec(sql, options);
      // After an error Postgres skips everything up to the next Sync, so also a ROLLBACK; exec itself ends with one.
      return db.isInTransaction() ? db.exec(sql, options) : result;
    },
  };

  return new Proxy(db, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return own[key];
      // bound to the instance itself: its private fields cannot be reached through a proxy
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
