/** Tests of the error messages for webhook calls that fail. */
import t from 'tap'
import { decodeResponse } from '../../../src/devcluster/admission/decode-response.ts'
import { describeResponse, describeNetworkError, describeReadError } from '../../../src/devcluster/admission/describe-call-error.ts'
import { CallError } from '../../../src/devcluster/admission/review.ts'

const failure = (fields: object, name = 'Error'): Error => Object.assign(new Error('boom'), { name }, fields)
const verification = (problem: string): string => `tls: failed to verify certificate: x509: ${problem}`
const unknown = verification('certificate signed by unknown authority')
const expired = verification('certificate has expired or is not yet valid')
const altNames = (subjectaltname?: string): object => ({ code: 'ERR_TLS_CERT_ALTNAME_INVALID', cert: { subjectaltname } })

const errors: [error: unknown, text: string, serverName?: string][] = [
  [failure({}, 'TimeoutError'), 'context deadline exceeded'],
  [failure({ code: 'UND_ERR_CONNECT_TIMEOUT' }), 'context deadline exceeded'],
  [failure({ code: 'UND_ERR_HEADERS_TIMEOUT' }), 'context deadline exceeded'],
  [failure({}, 'AbortError'), 'context canceled'],
  [failure({ code: 'ECONNREFUSED', address: '10.0.0.1', port: 9443 }), 'dial tcp 10.0.0.1:9443: connect: connection refused'],
  [failure({ code: 'EHOSTUNREACH', address: '10.0.0.1', port: 9443 }), 'dial tcp 10.0.0.1:9443: connect: no route to host'],
  [failure({ code: 'ENETUNREACH', address: '10.0.0.1', port: 9443 }), 'dial tcp 10.0.0.1:9443: connect: network is unreachable'],
  [failure({ code: 'ENOTFOUND', hostname: 'x.y' }), 'dial tcp: lookup x.y: no such host'],
  [failure({ code: 'EAI_AGAIN', hostname: 'x.y' }), 'dial tcp: lookup x.y: no such host'],
  [failure({ code: 'ECONNRESET' }), 'read: connection reset by peer'],
  [failure({ code: 'UND_ERR_SOCKET' }), 'EOF'],
  [failure({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), unknown],
  [failure({ code: 'SELF_SIGNED_CERT_IN_CHAIN' }), unknown],
  [failure({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }), unknown],
  [failure({ code: 'UNABLE_TO_GET_ISSUER_CERT' }), unknown],
  [failure({ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }), unknown],
  [failure({ code: 'CERT_SIGNATURE_FAILURE' }), unknown],
  [failure({ code: 'CERT_HAS_EXPIRED' }), expired],
  [failure({ code: 'CERT_NOT_YET_VALID' }), expired],
  [failure({ code: 'INVALID_PURPOSE' }), verification('certificate specifies an incompatible key usage')],
  [failure({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }), 'http: server gave HTTP response to HTTPS client'],
  [failure({ code: 'ERR_SSL_PACKET_LENGTH_TOO_LONG' }), 'tls: first record does not look like a TLS handshake'],
  [failure({ code: 'SOMETHING' }), 'boom'],
  [failure({ cause: failure({ cause: failure({ code: 'ECONNRESET' }) }) }), 'read: connection reset by peer'],
  [failure({ code: 'UND_ERR_SOCKET', cause: failure({ code: 'ECONNRESET' }) }), 'EOF'],
  [
    new AggregateError([failure({ code: 'ECONNREFUSED', address: '::1', port: 1 }), failure({ code: 'ENOTFOUND' })]),
    'dial tcp ::1:1: connect: connection refused',
  ],
  [failure(altNames('DNS:a.b, DNS:c.d, IP Address:1.2.3.4')), verification('certificate is valid for a.b, c.d, not x.y'), 'x.y'],
  [failure(altNames('IP Address:1.2.3.4')), verification('certificate is not valid for any names, but wanted to match x.y'), 'x.y'],
  [
    failure({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    verification('certificate is not valid for any names, but wanted to match x.y'),
    'x.y',
  ],
  [
    failure(altNames('DNS:a.b, IP Address:1.2.3.4, IP Address:::1')),
    verification('certificate is valid for 1.2.3.4, ::1, not 10.0.0.1'),
    '10.0.0.1',
  ],
  [failure(altNames('DNS:a.b')), verification("cannot validate certificate for ::2 because it doesn't contain any IP SANs"), '::2'],
]

t.test('connection errors have the messages of Go', (t) => {
  for (const [error, text, serverName = 'x.y'] of errors) t.equal(describeNetworkError(error, serverName), text)
  t.end()
})

t.test('an incomplete body is reported as an unexpected EOF or a cancelled context', (t) => {
  for (const code of ['UND_ERR_SOCKET', 'ECONNRESET']) t.equal(describeReadError(failure({ code })), 'unexpected EOF')
  t.equal(describeReadError(failure({}, 'AbortError')), 'context canceled')
  t.end()
})

const status = JSON.stringify({ kind: 'Status', message: 'because' })
const answers: [code: number, contentType: string, text: string, said: string][] = [
  [400, '', 'x', 'the server rejected our request for an unknown reason'],
  [401, '', 'x', 'the server has asked for the client to provide credentials'],
  [404, '', 'x', 'the server could not find the requested resource'],
  [405, '', 'x', 'the server does not allow this method on the requested resource'],
  [409, '', 'x', 'the server reported a conflict'],
  [422, '', 'x', 'the server rejected our request due to an error in our request'],
  [429, '', 'x', 'the server has received too many requests and has asked us to try again later'],
  [503, '', 'x', 'the server is currently unable to handle the request'],
  [504, '', 'x', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
  [403, 'text/plain', ' no \n', 'no'],
  [403, 'application/json', 'no', 'unknown'],
  [406, '', '', 'the server was unable to respond with a content type that the client supports'],
  [406, 'image/png', 'x', 'the server was unable to respond with a content type that the client supports'],
  [406, '', 'x', 'x'],
  [415, '', 'x', 'x'],
  [500, '', 'a "b"', 'an error on the server ("a \\"b\\"") has prevented the request from succeeding'],
  [502, 'text/html', 'x'.repeat(2049), `an error on the server ("${'x'.repeat(2048)}") has prevented the request from succeeding`],
  [500, 'application/json', '{}', 'an error on the server ("unknown") has prevented the request from succeeding'],
  [499, '', 'x', 'the server responded with the status code 499 but did not return more information'],
  [300, '', 'x', 'the server responded with the status code 300 but did not return more information'],
  [400, 'application/json', status, 'because'],
  [500, '', status, 'because'],
  [400, '', JSON.stringify({ kind: 'Status', message: '' }), 'the server rejected our request for an unknown reason'],
  [400, '', JSON.stringify({ kind: 'Status', message: 1 }), 'the server rejected our request for an unknown reason'],
  [400, '', JSON.stringify({ kind: 'Other', message: 'x' }), 'the server rejected our request for an unknown reason'],
]

t.test('error responses have the messages of the client-go REST client', (t) => {
  for (const [code, contentType, text, said] of answers)
    t.equal(describeResponse(code, contentType, text), said, `${code} ${text.slice(0, 20)}`)
  t.end()
})

const decode = (text: string, statusCode = 200, contentType = '') => decodeResponse({ statusCode, contentType, text, headers: {} })
const problem = (...given: Parameters<typeof decode>): string => {
  try {
    decode(...given)
  } catch (error) {
    if (error instanceof CallError) return error.message
    throw error
  }
  return 'fine'
}

t.test('a response is decoded from JSON or YAML with a success code, and refused otherwise', (t) => {
  t.strictSame(decode('{"a":1}'), { a: 1 })
  t.strictSame(decode('{"a":1}', 206), { a: 1 })
  t.equal(decode('null'), null)
  t.equal(decode(' '), null)
  t.strictSame(decode('a: 1\nb: 9007199254740993'), { a: 1, b: 9007199254740993n })
  t.equal(String((decode('{"a":9007199254740993}') as { a: unknown }).a), '9007199254740993')
  const call = 'failed to call webhook:'
  for (const code of [199, 207, 301]) t.match(problem('{}', code), /^failed to call webhook: the server responded with the status code \d+/)
  t.equal(problem('x', 500, 'text/plain'), `${call} an error on the server ("x") has prevented the request from succeeding`)
  t.equal(problem(''), `${call} 0-length response with status code: 200 and content type: application/json`)
  t.equal(problem('', 201, 'a/b'), `${call} 0-length response with status code: 201 and content type: a/b`)
  const parse = `${call} couldn't get version/kind; json parse error:`
  t.equal(problem('{"a":'), `${parse} unexpected end of JSON input`)
  t.equal(problem(' [1'), `${parse} unexpected end of JSON input`)
  t.match(problem('[]'), /json parse error: json: cannot unmarshal array into Go value of type struct/)
  t.match(problem('word'), /json parse error: json: cannot unmarshal string into Go value of type struct/)
  t.match(problem('a: b: c'), /json parse error: error converting YAML to JSON: yaml: [^\n]+$/)
  t.end()
})

t.test('the detail of a CallError omits the prefix of admission', (t) => {
  t.equal(new CallError('failed to call webhook: x').detail, 'x')
  t.equal(new CallError('received invalid webhook response: x').detail, 'received invalid webhook response: x')
  t.end()
})
