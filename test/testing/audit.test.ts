import { join } from 'node:path'
import t from 'tap'
import { auditPolicy, readAuditLog } from '../../src/testing/audit.ts'

t.test('each request is read once, at its first line, and an incomplete line is ignored', async (t) => {
  const event = (more: object): object => ({
    auditID: '1',
    requestReceivedTimestamp: '2026-01-01T00:00:01.5Z',
    verb: 'watch',
    requestURI: '/api/v1/pods?watch=true&continue=a?b',
    user: { username: 'admin' },
    responseStatus: { code: 200 },
    ...more,
  })
  const lines = [
    event({ annotations: { a: 'b' } }),
    event({ verb: 'get', responseStatus: { code: 410 } }),
    event({ auditID: '2', requestURI: '/version', impersonatedUser: { username: 'other' } }),
    event({ auditID: '3', requestURI: '/version', user: {}, impersonatedUser: {}, responseStatus: undefined }),
  ]
  const folder = t.testdir({ 'audit.log': `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"auditID":"4"` })
  const at = Date.parse('2026-01-01T00:00:01.5Z')
  t.strictSame(await readAuditLog(join(folder, 'audit.log')), [
    { at, verb: 'watch', user: 'admin', path: '/api/v1/pods', query: 'watch=true&continue=a?b', code: 200, annotations: { a: 'b' } },
    { at, verb: 'watch', user: 'other', path: '/version', query: '', code: 200 },
    { at, verb: 'watch', user: '', path: '/version', query: '', code: 0 },
  ])
})

t.test('requests are in the order in which the server received them', async (t) => {
  const logged = [
    ['slow', '2026-01-01T00:00:03.000001Z'],
    ['first', '2026-01-01T00:00:01.000000Z'],
    ['at-the-same-time', '2026-01-01T00:00:03.000002Z'],
    ['second', '2026-01-01T00:00:02.000000Z'],
  ]
  const lines = logged.map(([requestURI, requestReceivedTimestamp]) =>
    JSON.stringify({ auditID: requestURI, requestURI, requestReceivedTimestamp, verb: 'get', user: {} }),
  )
  const folder = t.testdir({ 'audit.log': `${lines.join('\n')}\n` })
  const requests = await readAuditLog(join(folder, 'audit.log'))
  t.strictSame(
    requests.map(({ path }) => path),
    ['first', 'second', 'slow', 'at-the-same-time'],
  )
})

t.test('all requests are audited once, without their bodies', (t) => {
  t.strictSame(JSON.parse(auditPolicy), {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata' }],
  })
  t.end()
})
