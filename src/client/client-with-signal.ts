/**
 * `clientWithSignal`: a client whose requests are aborted when a signal aborts. Reconciles and webhook handlers use this client. After the
 * signal of a reconcile or a webhook call has aborted, the client sends no requests.
 */
import type { Client } from './client.ts'

interface Abortable {
  readonly signal?: AbortSignal | undefined
}

/**
 * Returns a client that adds `signal` to every request of `client`. The returned client's `close` has no effect, because `client` remains
 * in use.
 */
export function clientWithSignal(client: Client, signal: AbortSignal): Client {
  const bind = <Options extends Abortable>(options: Options | undefined): Options => {
    const own = options?.signal
    return { ...options, signal: own === undefined || own === signal ? signal : AbortSignal.any([own, signal]) } as Options
  }
  return {
    fieldManager: client.fieldManager,
    get: (type, key, options) => client.get(type, key, bind(options)),
    list: (type, options) => client.list(type, bind(options)),
    watch: (type, options) => client.watch(type, bind(options)),
    create: (type, object, options) => client.create(type, object, bind(options)),
    update: (type, object, options) => client.update(type, object, bind(options)),
    patch: (type, key, patch, options) => client.patch(type, key, patch, bind(options)),
    apply: (type, object, options) => client.apply(type, object, bind(options)),
    updateStatus: (type, object, options) => client.updateStatus(type, object, bind(options)),
    patchStatus: (type, key, patch, options) => client.patchStatus(type, key, patch, bind(options)),
    delete: (type, key, options) => client.delete(type, key, bind(options)),
    deleteCollection: (type, options) => client.deleteCollection(type, bind(options)),
    logs: (key, options) => client.logs(key, bind(options)),
    raw: (path, options) => client.raw(path, bind(options)),
    close: () => Promise.resolve(),
  }
}
