import t from 'tap'
import { deployment, node, subjectAccessReview } from '../../src/api/builtin.ts'
import { ProreusError } from '../../src/api/errors.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { isAllowed } from '../../src/client/is-allowed.ts'
import { rejectionOf } from '../support/rejection.ts'

/** Returns a fake client, and the list of its calls. The client responds to its calls of `create` with `answers`, in order. */
function clientWith(...answers: readonly unknown[]) {
  const calls: unknown[][] = []
  const client = { create: async (...args: unknown[]) => (calls.push(args), answers[calls.length - 1]) } as unknown as Pick<
    Client,
    'create'
  >
  return { client, calls }
}

t.test('each call sends a SubjectAccessReview about the user and the resource', async (t) => {
  const { client, calls } = clientWith({ status: { allowed: true } }, { status: { allowed: false } })
  const { signal } = new AbortController()
  const user = { username: 'jane', uid: '7', groups: ['dev'], extra: { 'example.com/x': ['y'] } }
  const access = { verb: 'update', type: deployment, subresource: 'scale', namespace: 'ns', name: 'web' }
  t.equal(await isAllowed(client, user, access, { signal }), true)
  t.equal(await isAllowed(client, user, access), false, 'the result is not cached')
  const resourceAttributes = { verb: 'update', group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'ns', name: 'web' }
  const { username, ...rest } = user
  t.strictSame(calls[0], [subjectAccessReview, { metadata: {}, spec: { user: username, ...rest, resourceAttributes } }, { signal }])
})

t.test('the default are all namespaces, and a cluster-scoped type has none', async (t) => {
  const { client, calls } = clientWith({}, {}, {})
  const user = { username: 'jane' }
  await isAllowed(client, user, { verb: 'get', type: deployment })
  await isAllowed(client, user, { verb: 'get', type: node, namespace: 'ns' })
  await isAllowed(client, user, { verb: 'get', path: '/metrics' })
  t.strictSame(
    calls.map(([, object]) => (object as { spec: object }).spec),
    [
      { user: 'jane', resourceAttributes: { verb: 'get', group: 'apps', resource: 'deployments', namespace: '' } },
      { user: 'jane', resourceAttributes: { verb: 'get', group: '', resource: 'nodes', namespace: '' } },
      { user: 'jane', nonResourceAttributes: { verb: 'get', path: '/metrics' } },
    ],
  )
})

t.test('a failed review is an error that names the question', async (t) => {
  const refusing = (status: ConstructorParameters<typeof ApiError>[0]) => ({ create: () => Promise.reject(new ApiError(status)) })
  const ask = (client: Pick<Client, 'create'>) => isAllowed(client, { username: 'jane' }, { verb: 'get', path: '/metrics' })
  await t.rejects(ask(refusing(failure(503, 'ServiceUnavailable', 'later'))), {
    code: 'PRO_API',
    message: 'The API server did not answer whether the user "jane" may get /metrics.',
    cause: { message: /later/ },
  })
  await t.rejects(ask(refusing(failure(403, 'Forbidden', 'not you'))), { code: 'PRO_PERMISSION', message: /add accessReviewRule/ })
})

t.test('an aborted review rejects as other requests do', async (t) => {
  const user = { username: 'jane' }
  const access = { verb: 'get', path: '/metrics' }
  const failing = (thrown: unknown) => ({
    create: async () => {
      throw thrown
    },
  })
  const stop = new AbortController()
  stop.abort(new ProreusError('PRO_API', 'enough'))
  for (const signal of [AbortSignal.abort('enough'), AbortSignal.abort(null), stop.signal]) {
    const thrown = await isAllowed(failing(signal.reason), user, access, { signal }).catch((error: unknown) => ({ error }))
    t.strictSame(thrown, { error: signal.reason as unknown })
  }
  // The client itself may have a signal, for example the signal of a reconcile.
  const reason = new Error('enough')
  t.equal(await rejectionOf(isAllowed(failing(reason), user, access)), reason)
  const closed = new ProreusError('PRO_ABORTED', 'The client is closed.')
  t.equal(await rejectionOf(isAllowed(failing(closed), user, access)), closed)
  const unreachable = new ProreusError('PRO_API_UNREACHABLE', 'no route')
  t.match(await rejectionOf(isAllowed(failing(unreachable), user, access)), { code: 'PRO_API', cause: unreachable })
})
