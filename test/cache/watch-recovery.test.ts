import t from 'tap'
import { ProreusError } from '../../src/api/errors.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { failure } from '../../src/api/status.ts'
import type { Attempt, Diagnosis } from '../../src/cache/watch-recovery.ts'
import { diagnose } from '../../src/cache/watch-recovery.ts'
import { ApiError } from '../../src/client/api-error.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const node = resourceType({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })
const api = (code: number, reason: string, details?: object): ApiError => new ApiError(failure(code, reason, 'so it is', details))
const list: Attempt = { phase: 'list', opened: false, type: widget, namespace: undefined }
const watch: Attempt = { ...list, phase: 'watch' }
const open: Attempt = { ...watch, opened: true }

t.test('each failure has a diagnosis', async (t) => {
  const tooLarge = api(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] })
  const cannot = (phase: string): string => `Cannot ${phase} widgets.example.com in all namespaces: so it is`
  const cases: readonly (readonly [unknown, Attempt, Diagnosis])[] = [
    ...[list, watch, open].map(
      (attempt) =>
        [
          api(410, 'Expired'),
          attempt,
          {
            id: 'expired',
            level: 'debug',
            message: 'the resourceVersion of widgets.example.com is too old: so it is',
            relist: true,
            atOnce: true,
          },
        ] as const,
    ),
    ...[list, watch].map(
      (attempt) =>
        [
          api(404, 'NotFound'),
          attempt,
          {
            id: 'missing',
            level: 'warn',
            message:
              'The API server does not serve widgets.example.com in version v1: install its CustomResourceDefinition. `proreus run --install` installs those of the operators. Waiting for it.',
            relist: true,
            maxPauseMs: 5000,
          },
        ] as const,
    ),
    ...[list, watch].map(
      (attempt) =>
        [
          api(403, 'Forbidden'),
          attempt,
          {
            id: `forbidden ${attempt.phase}`,
            level: 'error',
            message: `Not allowed to ${attempt.phase} widgets.example.com in all namespaces: grant this operator the verbs list and watch on widgets.example.com. The API server answered: so it is`,
            relist: attempt.phase === 'list',
          },
        ] as const,
    ),
    [
      api(429, 'TooManyRequests', { retryAfterSeconds: 7 }),
      open,
      {
        id: 'busy',
        level: 'warn',
        message: 'The API server is too busy to watch widgets.example.com: so it is',
        relist: false,
        minPauseMs: 7000,
      },
    ],
    [
      api(429, 'TooManyRequests'),
      list,
      { id: 'busy', level: 'warn', message: 'The API server is too busy to list widgets.example.com: so it is', relist: true },
    ],
    ...[list, watch, open].map(
      (attempt) =>
        [
          new ProreusError('PRO_API_UNREACHABLE', 'Nothing answers.'),
          attempt,
          { id: 'unreachable', level: 'warn', message: 'Nothing answers.', relist: attempt === list },
        ] as const,
    ),
    [api(500, 'InternalError'), list, { id: 'list InternalError', level: 'warn', message: cannot('list'), relist: true }],
    [api(500, 'InternalError'), watch, { id: 'watch InternalError', level: 'warn', message: cannot('watch'), relist: false }],
    [api(500, 'InternalError'), open, { id: 'watch InternalError', level: 'warn', message: cannot('watch'), relist: true }],
    [
      api(503, 'ServiceUnavailable', { retryAfterSeconds: 2 }),
      watch,
      { id: 'watch ServiceUnavailable', level: 'warn', message: cannot('watch'), relist: false, minPauseMs: 2000 },
    ],
    [api(400, 'BadRequest'), watch, { id: 'watch BadRequest', level: 'warn', message: cannot('watch'), relist: true }],
    [api(422, 'Invalid'), watch, { id: 'watch Invalid', level: 'warn', message: cannot('watch'), relist: true }],
    [tooLarge, watch, { id: 'watch Timeout', level: 'warn', message: cannot('watch'), relist: true }],
    [api(504, 'Timeout'), watch, { id: 'watch Timeout', level: 'warn', message: cannot('watch'), relist: false }],
    [new ProreusError('PRO_KUBECONFIG', 'so it is'), watch, { id: 'watch', level: 'warn', message: cannot('watch'), relist: false }],
    [
      new Error('so', { cause: new Error('it is') }),
      list,
      { id: 'list', level: 'warn', message: 'Cannot list widgets.example.com in all namespaces: so: it is', relist: true },
    ],
    ['so it is', open, { id: 'watch', level: 'warn', message: cannot('watch'), relist: true }],
  ]
  for (const [error, attempt, expected] of cases)
    t.strictSame(diagnose(error, attempt), expected, `${String(error)} ${attempt.phase} ${attempt.opened}`)
})

t.test('the message names the namespace, if there is one', async (t) => {
  const error = api(403, 'Forbidden')
  t.match(diagnose(error, { ...list, namespace: 'ns' }).message, /^Not allowed to list widgets\.example\.com in the namespace ns: grant/)
  t.match(diagnose(error, { ...list, type: node }).message, /^Not allowed to list nodes: grant/)
  t.match(diagnose(new Error('x'), { ...list, namespace: 'ns' }).message, /^Cannot list widgets\.example\.com in the namespace ns: x$/)
})
