import t from 'tap'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { AdmissionRequest } from '../../src/webhook/review.ts'
import { reviewLog } from '../../src/webhook/review-log.ts'
import { recordingLogger } from '../support/cache-log.ts'

const request = {
  uid: 'u',
  kind: { group: 'apps.example.com', version: 'v1', kind: 'Widget' },
  namespace: 'ns',
  name: 'a',
  operation: 'CREATE',
  userInfo: { username: 'alice' },
} as unknown as AdmissionRequest

t.test('a handler that lacks a permission is told with the rule that is missing', async (t) => {
  const { logger, lines } = recordingLogger()
  const log = reviewLog({ path: '/validate', reviewed: 'Widget.apps.example.com', logger, sampled: () => true })
  const message = 'secrets "s" is forbidden: User "u" cannot get resource "secrets" in API group "" in the namespace "ns"'
  const decision = { outcome: 'errored', response: { allowed: false }, written: undefined } as const
  log(request, { ...decision, error: new ApiError(failure(403, 'Forbidden', message)) }, 1)
  log(request, { ...decision, error: new Error('oops') }, 1)
  t.strictSame(
    lines.map(({ msg }) => msg),
    [
      "the webhook for Widget.apps.example.com failed: it lacks a permission; add { apiGroups: [''], resources: ['secrets'], verbs: ['get'] } to the `rbac` of the webhook, and apply its RBAC anew",
      'the webhook for Widget.apps.example.com failed',
    ],
  )
})
