/**
 * Tests of the checks of options. If an option is misspelled or has an invalid value, the methods of the client and functions such as
 * `applySet` fail with an error. The checks at run time are necessary, because no compiler checks the options in a JavaScript program.
 */
import t from 'tap'
import { Store } from '../../src/cache/store.ts'
import { clientOver } from '../../src/client/client.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'
import {
  applyIfChanged,
  applySet,
  core,
  createClient,
  createLogger,
  createOrPatch,
  isAllowed,
  listInPages,
  loadConnection,
  patchStatusIfChanged,
  retryOnConflict,
} from '../../src/index.ts'
import { reconcileContext } from '../../src/testing/index.ts'

const requests: ApiRequest[] = []
const client = clientOver({
  request: async (request) => (requests.push(request), { statusCode: 200, headers: {}, body: { kind: 'Pod', metadata: {} } }),
  stream: async (request) => (requests.push(request), (async function* () {})()),
  close: async () => undefined,
})
const key = { namespace: 'a', name: 'x' }
const object = { apiVersion: 'v1', kind: 'Pod', metadata: { ...key, uid: '1' } } as core.Pod
const context = { client, cache: reconcileContext({ client }).cache }
const connection = { server: 'https://127.0.0.1:1', describe: 'a test' }

async function drain(iterable: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of iterable);
}

/**
 * Returns its argument with the type `never`. TypeScript accepts a value of the type `never` as any parameter, so the tests can pass
 * invalid options, as a JavaScript program can.
 */
const call = (options: unknown): never => options as never
/**
 * Returns its argument with the type `object`. TypeScript accepts a value of this type as options, whatever fields the value has. This
 * function is for verbs such as `create`, whose options determine the type of the object or patch. With options of the type `never`, the
 * object or patch would also need the type `never`.
 */
const some = (options: object): object => options
const cases: readonly (readonly [of: string, call: () => unknown, problem: string])[] = [
  ['createClient', () => createClient(connection, call({ contxt: 'a' })), 'contxt: unknown field'],
  ['createClient', () => createClient(connection, call({ fieldManger: 'a' })), 'fieldManger: unknown field; did you mean fieldManager?'],
  ['createClient', () => createClient(connection, call({ timeoutMs: { lsit: 5 } })), 'timeoutMs.lsit: unknown field'],
  [
    'createClient',
    () => createClient(connection, call({ impersonate: { name: 'a' } })),
    'impersonate.user: is missing; impersonate.name: unknown field',
  ],
  ['loadConnection', () => loadConnection(call({ env: {}, contxt: 'a' })), 'contxt: unknown field; did you mean context?'],
  ['client.get', () => client.get(core.pod, key, call({ subresorce: 'log' })), 'subresorce: unknown field; did you mean subresource?'],
  ['client.list', () => client.list(core.pod, call({ namespce: 'a' })), 'namespce: unknown field; did you mean namespace?'],
  ['client.list', () => client.list(core.pod, call('a')), 'options: must be an object, found "a"'],
  ['client.watch', () => drain(client.watch(core.pod, call({ namespce: 'a' }))), 'namespce: unknown field; did you mean namespace?'],
  ['client.create', () => client.create(core.pod, object, some({ dryrun: true })), 'dryrun: unknown field; did you mean dryRun?'],
  ['client.update', () => client.update(core.pod, object, some({ dryRun: 'All' })), 'dryRun: must be true or false, found "All"'],
  ['client.patch', () => client.patch(core.pod, key, {}, some({ typ: 'json' })), 'typ: unknown field; did you mean type?'],
  ['client.apply', () => client.apply(core.pod, object, some({ forc: true })), 'forc: unknown field; did you mean force?'],
  ['client.updateStatus', () => client.updateStatus(core.pod, object, call({ force: true })), 'force: unknown field'],
  ['client.patchStatus', () => client.patchStatus(core.pod, key, { status: {} }, call({ force: true })), 'force: unknown field'],
  [
    'client.delete',
    () => client.delete(core.pod, key, call({ preconditions: { resourceversion: '1' } })),
    'preconditions.resourceversion: unknown field; did you mean resourceVersion?',
  ],
  [
    'client.deleteCollection',
    () => client.deleteCollection(core.pod, call({ namespace: 'a', labelSelecter: {} })),
    'labelSelecter: unknown field; did you mean labelSelector?',
  ],
  ['client.logs', () => drain(client.logs(key, call({ tail: 5 }))), 'tail: unknown field'],
  ['client.raw', () => client.raw('/', call({ methd: 'PUT' })), 'methd: unknown field; did you mean method?'],
  ['listInPages', () => drain(listInPages(client, core.pod, call({ pagesize: 5 }))), 'pagesize: unknown field; did you mean pageSize?'],
  ['retryOnConflict', () => retryOnConflict(async () => 1, call({ attempt: 5 })), 'attempt: unknown field; did you mean attempts?'],
  [
    'isAllowed',
    () => isAllowed(client, { username: 'a' }, call({ verb: 'get', type: core.pod, namespce: 'a' })),
    'namespce: unknown field; did you mean namespace?',
  ],
  ['isAllowed', () => isAllowed(client, { username: 'a' }, call({ path: '/metrics' })), 'verb: is missing'],
  ['applyIfChanged', () => applyIfChanged(context, core.pod, object, call({ dryRun: true })), 'dryRun: unknown field'],
  ['applySet', () => applySet(context, object, [], call({ type: [] })), 'types: is missing; type: unknown field; did you mean types?'],
  ['createOrPatch', () => createOrPatch(context, core.pod, key, () => undefined, call({ dryRun: true })), 'dryRun: unknown field'],
  [
    'patchStatusIfChanged',
    () => patchStatusIfChanged(client, core.pod, object, {}, call({ fieldmanager: 'a' })),
    'fieldmanager: unknown field; did you mean fieldManager?',
  ],
  ['cache.list', () => new Store().list(call({ namespce: 'a' })), 'namespce: unknown field; did you mean namespace?'],
  ['cache.list', () => context.cache.list(core.pod, call({ labels: {} })), 'labels: unknown field'],
  ['createLogger', () => createLogger(call({ levl: 'debug' })), 'levl: unknown field; did you mean level?'],
  ['reconcileContext', () => reconcileContext(call({ client, cachd: [] })), 'cachd: unknown field; did you mean cached?'],
]

for (const [of, misspelled, problem] of cases) {
  t.test(`${of} refuses: ${problem}`, async (t) => {
    await t.rejects(async () => misspelled(), { code: 'PRO_CONFIG_INVALID', message: `The options of ${of} are invalid: ${problem}.` })
    t.strictSame(requests, [])
  })
}

t.test('valid options are accepted, and options that are undefined count as absent', async (t) => {
  const { signal } = new AbortController()
  await client.get(core.pod, key, { signal, timeoutMs: Infinity })
  await client.get(core.pod, key, undefined)
  await client.list(core.pod, { namespace: undefined, limit: 0 })
  await client.delete(core.pod, key, { gracePeriodSeconds: 0, preconditions: { uid: '1' }, propagationPolicy: 'Background' })
  t.equal(requests.length, 4)
  const timeoutMs = { get: 5_000, default: Infinity }
  await createClient(connection, { timeoutMs, userAgent: 'a', impersonate: { user: 'a', groups: ['b'] } }).close()
})
