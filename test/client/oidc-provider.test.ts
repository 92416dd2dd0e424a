import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { OidcProvider } from '../../src/client/oidc-provider.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { testCertificate } from '../support/certs/client-certificates.ts'
import type { Answer, ReceivedRequest, TestServer } from '../support/client/server.ts'
import { startTestServer } from '../support/client/server.ts'

/** Returns a token that expires at `ms`. Only the payload of the token is valid. */
const tokenUntil = (ms: number, name = 'x'): string => `h.${Buffer.from(JSON.stringify({ exp: ms / 1000, name })).toString('base64url')}.s`

/** Starts an identity provider. Its token endpoint responds with `answer`. */
async function setUp(
  t: Test,
  answer: (form: URLSearchParams, request: ReceivedRequest) => Answer,
): Promise<{ idp: TestServer; config: JsonObject; clock: FakeClock }> {
  const ca = testCertificate('ca')
  const idp = await startTestServer(
    (request) =>
      request.url === '/realm/.well-known/openid-configuration'
        ? { body: { token_endpoint: `${idp.url}/token?tenant=a` } }
        : answer(new URLSearchParams(request.body), request),
    { ...testCertificate('server', ca), ca: ca.cert },
  )
  t.teardown(() => idp.close())
  const clock = new FakeClock()
  const config = {
    'idp-issuer-url': `${idp.url}/realm/`,
    'idp-certificate-authority-data': Buffer.from(ca.cert).toString('base64'),
    'client-id': 'cli',
    'client-secret': 's:&cret',
    'id-token': tokenUntil(clock.now() + 60_000),
    'refresh-token': 'first',
  }
  return { idp, config, clock }
}

t.test('an id-token is used until ten seconds before its expiry, and then renewed with the refresh-token', async (t) => {
  const forms: Record<string, string>[] = []
  const authorizations: unknown[] = []
  const { idp, config, clock } = await setUp(t, (form, { method, url, headers }) => {
    forms.push(Object.fromEntries(form))
    authorizations.push([method, url, headers['content-type'], headers.authorization])
    return { body: { id_token: tokenUntil(clock.now() + 3_600_000, String(forms.length)), refresh_token: `rotated ${forms.length}` } }
  })
  const provider = new OidcProvider({ config, env: {}, clock })
  const first = `Bearer ${String(config['id-token'])}`
  t.strictSame(await provider.load(false), { authorization: first })
  await clock.advance(49_999)
  t.strictSame(await provider.load(false), { authorization: first })
  t.equal(idp.requests.length, 0)
  await clock.advance(1)
  const second = await provider.load(false)
  t.strictNotSame(second, { authorization: first })
  t.strictSame(await provider.load(false), second)
  await clock.advance(3_600_000)
  await provider.load(false)
  t.strictSame(forms, [
    { grant_type: 'refresh_token', refresh_token: 'first' },
    { grant_type: 'refresh_token', refresh_token: 'rotated 1' },
  ])
  const basic = `Basic ${Buffer.from('cli:s%3A%26cret').toString('base64')}`
  const expected = ['POST', '/token?tenant=a', 'application/x-www-form-urlencoded', basic]
  t.strictSame(authorizations, [expected, expected])
  const rejected = await provider.load(true)
  t.equal(forms.length, 3, 'a token that the API server has rejected is renewed')
  t.strictSame(await provider.load(false), rejected)
})

t.test('a provider that does not accept the secret in a header gets it in the body', async (t) => {
  const { config, clock } = await setUp(t, (form, { headers }) =>
    headers.authorization === undefined && form.get('client_secret') === 's:&cret' && form.get('client_id') === 'cli'
      ? { body: { id_token: tokenUntil(clock.now() + 3_600_000) } }
      : { status: 401, body: { error: 'invalid_client' } },
  )
  const provider = new OidcProvider({ config: { ...config, 'id-token': '' }, env: {}, clock })
  t.match(await provider.load(false), { authorization: /^Bearer h\./ })
})

t.test('a client without a secret sends its id, and keeps the refresh-token if there is no new one', async (t) => {
  const { idp, config, clock } = await setUp(t, () => ({ body: { id_token: tokenUntil(0), refresh_token: '' } }))
  const { 'client-secret': _, 'id-token': __, ...rest } = config
  const provider = new OidcProvider({ config: rest, env: {}, clock })
  await provider.load(false)
  await provider.load(false)
  const posts = idp.requests.filter(({ method }) => method === 'POST')
  t.strictSame(
    posts.map(({ body }) => body),
    Array(2).fill('grant_type=refresh_token&refresh_token=first&client_id=cli'),
  )
  t.ok(posts.every(({ headers }) => headers.authorization === undefined))
})

t.test('failures are explained, without secrets', async (t) => {
  const { idp, config, clock } = await setUp(t, () => ({ status: 400, body: { error: 'invalid_grant' } }))
  const expired = { ...config, 'id-token': 'not a token' }
  const failure = async (changes: JsonObject): Promise<string> => {
    try {
      await new OidcProvider({ config: { ...expired, ...changes }, env: {}, clock }).load(false)
    } catch (error) {
      return (error as Error).message
    }
    return 'no failure'
  }
  t.match(await failure({}), `${idp.url}/realm did not renew the id-token: `)
  t.notMatch(await failure({}), /first|cret/)
  t.equal(await failure({ 'refresh-token': '' }), 'its id-token has expired, and there is no refresh-token: log in again')
  t.match(await failure({ 'idp-issuer-url': `${idp.url}/other` }), /did not renew the id-token: /)
  t.match(await failure({ 'idp-certificate-authority-data': '', 'idp-certificate-authority': '/nowhere' }), /ENOENT/)
  t.match(await failure({ 'client-id': '' }), 'client-id is missing in the config of its auth-provider')
  t.match(await failure({ 'idp-issuer-url': 'http://idp' }), 'idp-issuer-url is "http://idp", which is not an https URL')
  t.match(await failure({ 'idp-issuer-url': 7 }), 'idp-issuer-url is "", which is not an https URL')
})

t.test('an answer without an id_token, or a token endpoint without TLS, is an error', async (t) => {
  const { config, clock } = await setUp(t, () => ({ body: { access_token: 'a' } }))
  const load = (changes: JsonObject): Promise<unknown> =>
    new OidcProvider({ config: { ...config, 'id-token': '', ...changes }, env: {}, clock }).load(false)
  await t.rejects(load({}), { message: /its answer has no id_token/ })
  const ca = testCertificate('ca')
  const plain = await startTestServer(() => ({ body: { token_endpoint: 'http://idp/token' } }), {
    ...testCertificate('server', ca),
    ca: ca.cert,
  })
  t.teardown(() => plain.close())
  const changes = { 'idp-issuer-url': plain.url, 'idp-certificate-authority-data': Buffer.from(ca.cert).toString('base64') }
  await t.rejects(load(changes), { message: /token_endpoint is "http:\/\/idp\/token", which is not an https URL/ })
  t.equal(plain.requests.length, 1)
})

t.test('an answer of more than 1 MiB is refused', async (t) => {
  const answers = [' '.repeat(1024 * 1024), '']
  const { config, clock } = await setUp(t, () => ({ body: { id_token: tokenUntil(clock.now() + 3_600_000), padding: answers.shift() } }))
  const { 'client-secret': _, ...rest } = config
  const provider = new OidcProvider({ config: { ...rest, 'id-token': '' }, env: {}, clock })
  await t.rejects(provider.load(false), { message: /did not renew the id-token: .* has more than 1048576 bytes/ })
  t.match(await provider.load(false), { authorization: /^Bearer h\./ })
})

t.test('a kubeconfig with the auth-provider oidc yields the header', async (t) => {
  const { config, clock } = await setUp(t, () => ({ body: { id_token: tokenUntil(clock.now() + 3_600_000, 'renewed') } }))
  const load = async (user: object): ReturnType<typeof loadConnection> => {
    const kubeconfig = join(t.testdir({}), 'config')
    const content = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://api.example.com' } }],
      users: [{ name: 'u', user }],
    }
    await writeFile(kubeconfig, JSON.stringify(content))
    return loadConnection({ kubeconfig, env: {}, clock })
  }
  const oidc = { 'auth-provider': { name: 'oidc', config } }
  const { authorization } = await load(oidc)
  const first = await authorization!()
  t.equal(first, `Bearer ${String(config['id-token'])}`)
  await clock.advance(60_000)
  t.equal(await authorization!(), `Bearer ${tokenUntil(clock.now() + 3_600_000, 'renewed')}`)
  t.equal(await (await load({ ...oidc, token: 'static' })).authorization!(), 'Bearer static', 'a token takes precedence')
  await t.rejects(load({ 'auth-provider': { name: 'oidc' } }), {
    code: 'PRO_KUBECONFIG',
    message: /^The user "u" in .* has an invalid auth-provider: idp-issuer-url is "", which is not an https URL\.$/,
  })
})
