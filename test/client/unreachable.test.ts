import t from 'tap'
import type { Connection } from '../../src/client/connection.ts'
import { isConnectionReset, unreachable } from '../../src/client/unreachable.ts'

const connection = { server: 'https://api.example.com:6443', describe: 'kubeconfig a' } as Connection
const withCode = (code: string): Error => Object.assign(new Error('x'), { code })

t.test('the code is found in an error, in its causes, and in each of its parts', async (t) => {
  const refused = withCode('ECONNREFUSED')
  const wrapped = new TypeError('fetch failed', { cause: refused })
  for (const cause of [refused, wrapped, new AggregateError([refused]), new AggregateError([new Error('y'), wrapped])]) {
    const { code, message } = unreachable(connection, cause)
    t.equal(code, 'PRO_API_UNREACHABLE')
    t.match(message, /^Nothing answers at https:\/\/api\.example\.com:6443 \(connection refused\)/)
  }
  t.match(unreachable(connection, new Error('odd')).message, /kubeconfig a cannot be reached: odd\.$/)
})

t.test('a connection that broke is told from one that was never made', async (t) => {
  for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']) t.ok(isConnectionReset(withCode(code)), code)
  t.notOk(isConnectionReset(withCode('ECONNREFUSED')))
  t.notOk(isConnectionReset('ECONNRESET'))
})
