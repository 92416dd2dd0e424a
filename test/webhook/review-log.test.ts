import t from 'tap'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Decision } from '../../src/webhook/decide-review.ts'
import type { AdmissionRequest } from '../../src/webhook/review/admission-review.ts'
import { reviewLog } from '../../src/webhook/review-log.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const request = {
  uid: 'u',
  kind: { group: 'apps.example.com', version: 'v1', kind: 'Widget' },
  namespace: 'ns',
  name: 'a',
  operation: 'CREATE',
  userInfo: { username: 'alice' },
} as unknown as AdmissionRequest

t.test('a handler that lacks a permission is logged with the missing RBAC rule', async (t) => {
  const { logger, entries } = recordingLogger()
  const log = reviewLog({ path: '/validate', reviewed: 'Widget.apps.example.com', logger, sampled: () => true })
  const message = 'secrets "s" is forbidden: User "u" cannot get resource "secrets" in API group "" in the namespace "ns"'
  const decision = { outcome: 'errored', response: { allowed: false }, written: undefined } as const
  log(request, { ...decision, error: new ApiError(failure(403, 'Forbidden', message)) }, 1)
  log(request, { ...decision, error: new Error('oops') }, 1)
  t.strictSame(
    entries.map(({ msg }) => msg),
    [
      "the webhook for Widget.apps.example.com failed: it lacks a permission; add { apiGroups: [''], resources: ['secrets'], verbs: ['get'] } to the `rbac` of the webhook, and apply its RBAC anew",
      'the webhook for Widget.apps.example.com failed',
    ],
  )
})

const facts = {
  path: '/v',
  uid: 'u',
  kind: 'Widget',
  namespace: 'ns',
  name: 'a',
  operation: 'CREATE',
  user: 'alice',
  dryRun: true,
  ms: 1.235,
}

/** Returns the log entries for a decision, without their time. */
function linesFor(decision: Partial<Decision>, { level = 'debug', sampled = false } = {}): object[] {
  const { logger, entries } = recordingLogger(level)
  const sampledUids: string[] = []
  const log = reviewLog({
    path: '/v',
    reviewed: 'Widget.apps.example.com',
    logger,
    sampled: (uid) => (sampledUids.push(uid), sampled),
  })
  log(
    { ...request, dryRun: true },
    { written: undefined, error: undefined, response: { allowed: false }, ...decision } as Decision,
    1.23456,
  )
  t.strictSame(sampledUids, decision.outcome === 'allowed' ? ['u'] : [])
  return entries.map(({ time: _time, ...entry }) => entry)
}

t.test('each outcome has its log line, with the user, the object and the duration', async (t) => {
  const written = { text: '', patch: { operations: 2, bytes: 40 } }
  const allowed = { outcome: 'allowed', response: { allowed: true } } as const
  t.strictSame(linesFor(allowed), [{ level: 'debug', ...facts, allowed: true, operations: 0, msg: 'reviewed' }])
  t.strictSame(linesFor({ ...allowed, written }), [{ level: 'debug', ...facts, allowed: true, operations: 2, msg: 'reviewed' }])
  t.strictSame(linesFor(allowed, { level: 'info' }), [])
  t.strictSame(linesFor(allowed, { level: 'info', sampled: true }), [
    { level: 'info', ...facts, allowed: true, operations: 0, msg: 'reviewed' },
  ])
  t.strictSame(linesFor(allowed, { level: 'warn', sampled: true }), [])
  const causes = ['a', 'b'].map((field) => ({ field, reason: 'FieldValueInvalid', message: 'secret' }))
  const status = { ...failure(422, 'Invalid', 'secret'), details: { causes } }
  t.strictSame(linesFor({ outcome: 'denied', response: { allowed: false, status } }, { level: 'info' }), [
    { level: 'info', ...facts, allowed: false, code: 422, reason: 'Invalid', causes: 2, msg: 'denied' },
  ])
  t.strictSame(linesFor({ outcome: 'denied', response: { allowed: false } }), [
    { level: 'info', ...facts, allowed: false, causes: 0, msg: 'denied' },
  ])
  const late = { allowed: false, status: failure(504, 'Timeout', 'too late') }
  t.strictSame(linesFor({ outcome: 'timed_out', response: late }), [{ level: 'warn', ...facts, code: 504, msg: 'too late' }])
  const error = new Error('oops')
  t.match(linesFor({ outcome: 'errored', error }), [
    { level: 'error', ...facts, code: 500, err: { message: 'oops' }, msg: /^the webhook for Widget\.apps\.example\.com failed$/ },
  ])
  t.match(linesFor({ outcome: 'abandoned', error }), [
    { level: 'debug', ...facts, err: { message: 'oops' }, msg: /^a review was aborted: the client has disconnected$/ },
  ])
})
