import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import type { Client } from '../../src/client/client.ts'
import { clientWithSignal } from '../../src/client/client-with-signal.ts'

t.test('every verb has the signal, and close does nothing', async (t) => {
  const signals = new Map<string, AbortSignal | undefined>()
  const inner = new Proxy({} as Client, {
    get:
      (_, verb: string) =>
      (...args: unknown[]) => {
        signals.set(verb, (args.at(-1) as { signal?: AbortSignal } | undefined)?.signal)
      },
  })
  const { signal } = new AbortController()
  const client = clientWithSignal(inner, signal)
  const key = { namespace: 'a', name: 'b' }
  const object = { metadata: key }
  void client.get(pod, key)
  void client.list(pod)
  void client.watch(pod, {})
  void client.create(pod, object)
  void client.update(pod, object)
  void client.patch(pod, key, {})
  void client.apply(pod, object)
  void client.updateStatus(pod, object)
  void client.patchStatus(pod, key, { status: {} })
  void client.delete(pod, key)
  void client.deleteCollection(pod, {})
  void client.logs(key)
  void client.raw('/version')
  await client.close()
  t.equal(signals.size, 13)
  for (const [verb, received] of signals) t.equal(received, signal, verb)
})

t.test('the signal of a call is combined with it, and other options are kept', async (t) => {
  let received: { signal?: AbortSignal | undefined; dryRun?: boolean } = {}
  const inner = { create: (_type: unknown, _object: unknown, options: typeof received) => (received = options) } as unknown as Client
  for (const which of ['outer', 'own'] as const) {
    const signals = { outer: new AbortController(), own: new AbortController() }
    const { outer, own } = signals
    void clientWithSignal(inner, outer.signal).create(pod, { metadata: { name: 'a' } }, { dryRun: true, signal: own.signal })
    t.equal(received.dryRun, true)
    t.notOk(received.signal?.aborted)
    signals[which].abort()
    t.ok(received.signal?.aborted, which)
  }
})

t.test('every verb passes on its arguments and its result', async (t) => {
  const calls: unknown[][] = []
  const inner = new Proxy({} as Client, {
    get:
      (_, verb: string) =>
      (...args: unknown[]) => {
        calls.push([verb, ...args])
        return `answer to ${verb}`
      },
  })
  const { signal } = new AbortController()
  const client = clientWithSignal(inner, signal) as unknown as Record<string, (...args: unknown[]) => unknown>
  const [key, object, patch] = [{ name: 'k' }, { metadata: { name: 'o' } }, { spec: {} }]
  const verbs: Record<string, unknown[]> = {
    get: [pod, key],
    list: [pod],
    watch: [pod],
    create: [pod, object],
    update: [pod, object],
    patch: [pod, key, patch],
    apply: [pod, object],
    updateStatus: [pod, object],
    patchStatus: [pod, key, patch],
    delete: [pod, key],
    deleteCollection: [pod],
    logs: [key],
    raw: ['/version'],
  }
  for (const [verb, args] of Object.entries(verbs)) {
    t.equal(client[verb]!(...args, { option: 1, signal }), `answer to ${verb}`)
    t.strictSame(calls.at(-1), [verb, ...args, { option: 1, signal }])
    t.equal((calls.at(-1)!.at(-1) as { signal: AbortSignal }).signal, signal, 'the same signal is not wrapped')
    client[verb]!(...args)
    t.strictSame(calls.at(-1), [verb, ...args, { signal }])
  }
  t.equal(await client['close']!(), undefined)
  t.equal(calls.length, 26)
})
