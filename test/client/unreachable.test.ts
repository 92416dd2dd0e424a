import t from 'tap'
import type { Connection } from '../../src/client/connection.ts'
import { isConnectionReset, unreachable } from '../../src/client/unreachable.ts'

const connection = { server: 'https://api.example.com:6443', describe: 'kubeconfig a' } as Connection
const withCode = (code: string): Error => Object.assign(new Error('x'), { code })

t.test('the error code is found in an error, its causes and its parts', async (t) => {
  const refused = withCode('ECONNREFUSED')
  const wrapped = new TypeError('fetch failed', { cause: refused })
  for (const cause of [refused, wrapped, new AggregateError([refused]), new AggregateError([new Error('y'), wrapped])]) {
    const { code, message } = unreachable(connection, cause)
    t.equal(code, 'PRO_API_UNREACHABLE')
    t.match(message, /^Nothing answers at https:\/\/api\.example\.com:6443 \(connection refused\)/)
  }
  t.match(unreachable(connection, new Error('odd')).message, /kubeconfig a cannot be reached: odd\.$/)
})

t.test('a reset connection differs from a refused one', async (t) => {
  for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']) t.ok(isConnectionReset(withCode(code)), code)
  t.notOk(isConnectionReset(withCode('ECONNREFUSED')))
  t.notOk(isConnectionReset('ECONNRESET'))
})

t.test('each kind of failure is a sentence with advice', async (t) => {
  const server = 'https://api.example.com:6443'
  const sentences: readonly (readonly [readonly string[], (code: string) => string])[] = [
    [
      ['ECONNREFUSED'],
      () => `Nothing answers at ${server} (connection refused): start that API server, or use another connection than kubeconfig a.`,
    ],
    [
      ['ENOTFOUND', 'EAI_AGAIN'],
      () =>
        "The host name api.example.com of the API server cannot be resolved: check the network and the server's address in kubeconfig a.",
    ],
    [
      ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
      (code) => `No connection to ${server} could be made (${code}): check the network, a VPN or firewall, and kubeconfig a.`,
    ],
    [
      ['UND_ERR_CONNECT_TIMEOUT'],
      () => `No connection to ${server} could be made (timed out): check the network, a VPN or firewall, and kubeconfig a.`,
    ],
    [
      ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'PRO_TIMEOUT'],
      () =>
        `The API server ${server} accepted the connection but did not answer in time: try again, and look at its health with \`kubectl get --raw /readyz\`.`,
    ],
    [['CERT_HAS_EXPIRED'], () => `The certificate of ${server} is expired: renew it, or set this machine's clock right.`],
    [['CERT_NOT_YET_VALID'], () => `The certificate of ${server} is not valid yet: renew it, or set this machine's clock right.`],
    [
      ['ERR_TLS_CERT_ALTNAME_INVALID'],
      () =>
        `The certificate of ${server} is for other names: use one of them as the server's address, or set tls-server-name, in kubeconfig a (x).`,
    ],
    [
      ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'],
      () => `${server} does not speak TLS: check whether its address in kubeconfig a should begin with http:// or name another port.`,
    ],
    [['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'], () => `The connection to ${server} was lost (x): try again.`],
    [
      [
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'SELF_SIGNED_CERT_IN_CHAIN',
        'UNABLE_TO_GET_ISSUER_CERT',
        'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        'CERT_SIGNATURE_FAILURE',
        'CERT_UNTRUSTED',
        'INVALID_CA',
      ],
      (code) =>
        `The certificate of ${server} is not signed by an authority that kubeconfig a trusts: check its certificate-authority (${code}).`,
    ],
    [['ESOMETHING', ''], () => `The API server ${server} of kubeconfig a cannot be reached: x.`],
  ]
  for (const [codes, sentence] of sentences)
    for (const code of codes) {
      const cause = withCode(code)
      const error = unreachable(connection, cause)
      t.equal(error.message, sentence(code), code)
      t.equal(error.cause, cause)
    }
})

t.test('thrown values without a code are included as they are', async (t) => {
  const start = 'The API server https://api.example.com:6443 of kubeconfig a cannot be reached'
  t.equal(unreachable(connection, 'odd').message, `${start}: odd.`)
  t.equal(unreachable(connection, undefined).message, `${start}: undefined.`)
  t.equal(unreachable(connection, new AggregateError([new Error('a'), new Error('b')])).message, `${start}: a; b.`)
  t.equal(unreachable(connection, Object.assign(new Error('n'), { code: 7 })).message, `${start}: n.`)
  t.match(unreachable({ server: 'nonsense', describe: 'k' }, withCode('ENOTFOUND')).message, /^The host name nonsense of /)
})

t.test('an empty code is ignored', async (t) => {
  const cause = Object.assign(withCode(''), { cause: withCode('ECONNREFUSED') })
  t.match(unreachable(connection, cause).message, /^Nothing answers at /)
})

t.test('the first code of an AggregateError is used', async (t) => {
  const parts = new AggregateError([new Error('a'), withCode('ECONNREFUSED'), withCode('ETIMEDOUT')])
  t.match(unreachable(connection, parts).message, /^Nothing answers at /)
  const nested = new AggregateError([new AggregateError([new Error('a')]), new AggregateError([parts])])
  t.match(unreachable(connection, nested).message, /^Nothing answers at /)
})
