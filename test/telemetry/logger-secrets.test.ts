/** Logs secrets in many forms. Tests that no log line contains a secret, and that harmless values stay readable. */
import t from 'tap'
import { ProreusError } from '../../src/api/errors.ts'
import { createLogger } from '../../src/telemetry/logger.ts'

type Arguments = readonly [fieldsOrMessage: unknown, ...rest: unknown[]]

/**
 * Logs the arguments with `info`, and returns the log line. If the first argument is an object but not an Error, two child loggers with the
 * fields of this object also log a line each, and these lines are also returned.
 */
function lines(...[first, ...rest]: Arguments): string {
  let text = ''
  const logger = createLogger({ level: 'trace', destination: { write: (line) => void (text += line) } })
  const log = logger.info.bind(logger) as (...given: unknown[]) => void
  log(first, ...rest)
  if (typeof first === 'object' && first !== null && !(first instanceof Error)) {
    logger.child(first).info('child')
    const late = logger.child({})
    late.setBindings(first)
    late.info('late')
  }
  return text
}

const secret = 'hunter2Hidden'
const base64 = Buffer.from(secret).toString('base64')
const pem = `-----BEGIN EC PRIVATE KEY-----\n${base64}${base64}\n-----END EC PRIVATE KEY-----\n`
const jwt = `eyJhbGciOiJSUzI1NiJ9.${base64.replaceAll('=', '')}.c2ln-${secret}`
const secretObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'web', namespace: 'default' },
  type: 'Opaque',
  data: { any: base64 },
}
const applied = {
  'kubectl.kubernetes.io/last-applied-configuration': `{"apiVersion":"v1","data":{"any":"${base64}"},"kind":"Secret","metadata":{"name":"web"}}\n`,
}
const basic = Buffer.from(`user:${secret}`).toString('base64')

class Settings {
  readonly name = 'settings'
  readonly password = secret
  readonly nested = { clientSecret: secret }
}

class Computed {
  toJSON(): object {
    return { name: 'computed', token: secret }
  }
}

const withGetter = Object.defineProperty({ name: 'getter' }, 'apiKey', { enumerable: true, get: () => secret })

/** Returns an object whose field `text` is harmless at the first read. At each later read, the field contains a secret. */
function changing(): object {
  let reads = 0
  return Object.defineProperty({}, 'text', { enumerable: true, get: () => (reads++ === 0 ? 'harmless' : `Bearer ${secret}`) })
}

function withProperties(message: string, properties: object, options?: ErrorOptions): Error {
  return Object.assign(new Error(message, options), properties)
}

const probes: Record<string, Arguments> = {
  // Kubernetes objects with secrets.
  'the data of a Secret': [{ object: secretObject }, 'x'],
  'stringData, also without a kind': [{ patch: { stringData: { any: secret } } }, 'x'],
  'a Secret that lost its kind': [{ object: { ...secretObject, kind: undefined, apiVersion: undefined } }, 'x'],
  'the items of a SecretList, which have no kind': [
    { list: { kind: 'SecretList', apiVersion: 'v1', items: [{ metadata: { name: 'web' }, data: { any: base64 } }] } },
    'x',
  ],
  'the last applied configuration of a Secret': [{ object: { kind: 'Secret', metadata: { name: 'web', annotations: applied } } }, 'x'],
  'the last applied configuration of a Secret, its annotations alone': [{ annotations: applied }, 'x'],
  'a watch event of a Secret': [{ event: { type: 'ADDED', object: secretObject } }, 'x'],
  'an admission review of a Secret': [{ request: { kind: { kind: 'Secret' }, object: secretObject, oldObject: secretObject } }, 'x'],
  'a JSON patch of a Secret': [{ patch: [{ op: 'replace', path: '/data/password', value: base64 }] }, 'x'],
  'the token of a legacy Secret in its annotation': [{ annotations: { 'openshift.io/token-secret.value': secret } }, 'x'],
  'the environment of a container': [{ env: [{ name: 'DB_PASSWORD', value: secret }] }, 'x'],
  'more of such an environment': [
    {
      env: ['PGPASSWORD', 'AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN', 'API_KEY', 'DB_PASS', 'CLIENT_SECRET'].map((name) => ({
        name,
        value: secret,
      })),
    },
    'x',
  ],
  'a URL with a password in an environment': [{ env: [{ name: 'DATABASE_URL', value: `postgres://app:${secret}@db:5432/app` }] }, 'x'],
  'the arguments of a container': [{ args: [`--token=${secret}`, '--password', secret, `--api-key=${secret}`] }, 'x'],
  'the users of a kubeconfig': [
    {
      users: [
        { name: 'a', user: { 'client-key-data': base64, token: secret, password: secret } },
        { name: 'b', user: { 'auth-provider': { config: { 'access-token': secret, 'refresh-token': secret, 'id-token': secret } } } },
        {
          name: 'c',
          user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', env: [{ name: 'SEED', value: secret }] } },
        },
      ],
    },
    'x',
  ],
  'the users of a loaded kubeconfig': [
    { users: [{ name: 'a', keyData: base64, authProvider: { config: { clientSecret: secret } } }] },
    'x',
  ],
  'an exec credential': [{ kind: 'ExecCredential', status: { token: secret, clientKeyData: pem } }, 'x'],
  'a token review': [{ kind: 'TokenReview', spec: { token: secret } }, 'x'],
  'a token request': [{ kind: 'TokenRequest', status: { token: secret, expirationTimestamp: '2026-01-01T00:00:00Z' } }, 'x'],

  // Keys whose values are secrets.
  ...Object.fromEntries(
    [
      'apiKey api_key api-key x-api-key secret client_secret clientSecret access_token accessToken refresh_token refreshToken id_token',
      'password PASSWORD dbPassword db_password passwd passphrase userPwd token bearerToken webhook_token authorization Authorization',
      'proxy-authorization cookie Set-Cookie privateKey private_key secretKey secret_access_key awsSecretAccessKey signingKey encryption_key',
      'credentials clientKey session_token tls.key id_rsa',
    ]
      .join(' ')
      .split(' ')
      .map((key): [string, Arguments] => [`the key ${key}`, [{ given: { [key]: secret } }, 'x']]),
  ),
  'a list under such a key': [{ headers: { 'set-cookie': [`session=${secret}`, `other=${secret}`] }, tokens: [secret] }, 'x'],
  'an object under such a key': [{ token: { value: secret, raw: { text: secret } }, credentials: { user: 'u', pin: 123456789 } }, 'x'],
  'the key of a TLS pair': [{ tls: { cert: 'public', key: secret } }, 'x'],
  'headers as a flat list': [{ rawHeaders: ['Host', 'a', 'Authorization', secret, 'Cookie', secret] }, 'x'],
  'headers as pairs': [{ headers: [['authorization', secret]] }, 'x'],
  'a name and a value': [{ header: { name: 'X-Api-Key', value: secret }, parameter: { key: 'password', value: secret } }, 'x'],

  // Errors with secrets.
  'an error under err': [{ err: withProperties('no', { request: { headers: { authorization: secret } } }) }, 'x'],
  'an error under another key': [{ error: withProperties('no', { token: secret }), reason: new Error(`Bearer ${secret}`) }, 'x'],
  'an error in a list': [{ errors: [withProperties('no', { token: secret })] }, 'x'],
  'an error as the only argument': [withProperties(`Bearer ${secret}`, { token: secret })],
  'the message of err without another': [{ err: new Error(`Bearer ${secret}`) }],
  'the message and the stack of an error': [{ err: new Error(`GET https://user:${secret}@example.com/ failed`) }, 'x'],
  'the cause of an error': [
    { err: new ProreusError('PRO_INPUT', 'no', { cause: withProperties(`token=${secret}`, { password: secret }) }) },
    'x',
  ],
  'the cause of a cause': [
    { err: new Error('a', { cause: new Error('b', { cause: new Error('c', { cause: { token: secret } }) }) }) },
    'x',
  ],
  'a cause that is a text': [{ err: new Error('a', { cause: `Bearer ${secret}` }) }, 'x'],
  'the errors of an AggregateError': [{ err: new AggregateError([withProperties(`Bearer ${secret}`, { apiKey: secret })], 'all') }, 'x'],
  'an error within a property of an error': [{ err: withProperties('no', { original: withProperties('no', { apiKey: secret }) }) }, 'x'],

  // Secrets in values of other types.
  'an instance of a class': [{ settings: new Settings() }, 'x'],
  'an instance of a class, itself': [new Settings(), 'x'],
  'an object with toJSON': [{ computed: new Computed() }, 'x'],
  'a getter': [{ given: withGetter }, 'x'],
  'a getter that changes its mind': [{ given: changing() }, 'x'],
  'a Map': [
    {
      map: new Map<string, unknown>([
        ['token', secret],
        ['nested', { password: secret }],
      ]),
    },
    'x',
  ],
  'a Set': [{ set: new Set([{ password: secret }, `Bearer ${secret}`]) }, 'x'],
  'a Buffer': [
    { buffer: Buffer.from(secret), view: new Uint8Array(Buffer.from(secret)), raw: new TextEncoder().encode(secret).buffer },
    'x',
  ],
  'a URL': [{ url: new URL(`https://user:${secret}@example.com/?access_token=${secret}`) }, 'x'],
  'a boxed text': [{ text: Object(`Bearer ${secret}`) as unknown }, 'x'],
  'a key that is a secret itself': [{ cache: { [`https://user:${secret}@example.com/`]: 1, [jwt]: 2 } }, 'x'],
  'JSON in a text': [{ body: JSON.stringify({ env: [{ name: 'DB_PASSWORD', value: secret }], apiKey: secret }) }, 'x'],

  // Strings that contain secrets.
  ...Object.fromEntries(
    Object.entries({
      'a bearer token': `Authorization: Bearer ${secret}`,
      'a bearer token in lower case': `sent bearer ${secret} to a`,
      'basic authentication': `Authorization: Basic ${basic}`,
      'another scheme': `authorization: Negotiate ${secret}`,
      'a cookie': `Cookie: a=b; session=${secret}`,
      'a private key': `read ${pem} from a file`,
      'a private key without its end': `read -----BEGIN PRIVATE KEY-----\n${secret}`,
      'a private key in one line': `read ${JSON.stringify(pem)}`,
      'a private key in base64': `key is ${Buffer.from('-----BEGIN PRIVATE KEY-----\nMI').toString('base64')}${secret}`,
      'a JSON web token': `got ${jwt}.`,
      'a password in a URL': `GET https://user:${secret}@example.com/a`,
      'a password with an @ in a URL': `GET https://user:p@${secret}@example.com/a`,
      'a token in a URL': `git clone https://ghp_${secret}0123456789@example.com/a`,
      'a query': `GET /a?access_token=${secret}&x=1`,
      'an assignment': `token=${secret}, api_key='${secret}' PGPASSWORD=${secret} client-secret="${secret}"`,
      'JSON within a text': `cannot send {"user":"a","password":"${secret}","token" : "a\\"${secret}"}`,
      'escaped JSON within a text': `cannot send "{\\"password\\":\\"${secret}\\",\\"user\\":\\"a\\"}"`,
      'YAML within a text': `at line 2:\n\n  client-key-data: ${base64}\n  password: ${secret}\n  "token": "${secret}"\n    ^^^`,
      'flow YAML within a text': `cannot read {user: a, password: ${secret}}`,
      'an object that was inspected': `failed with { user: 'a', password: '${secret}', apiKey: "${secret}" }`,
      'an environment as JSON within a text': `cannot send [{"name":"DB_PASSWORD","value":"${secret}"}] to a`,
      'a Secret as JSON within a text': `cannot apply ${JSON.stringify(secretObject)}: refused`,
      'a Secret with its kind last': `cannot apply {"data":{"any":"${base64}"},"kind":"Secret"}`,
      'a Secret as YAML within a text': `cannot apply\napiVersion: v1\ndata:\n  any: ${base64}\nkind: Secret\n`,
      'a command line': `Command failed: kubectl --token ${secret} get pods`,
      'a value that a schema refuses': `spec.password: Invalid value: "${secret}": must be longer`,
      'a long text': `${'x'.repeat(200_000)} token=${secret}`,
      'a long Secret as JSON': JSON.stringify({ ...secretObject, data: { any: base64, more: 'a'.repeat(100_000) }, kind: 'Secret' }),
      'a long Secret as JSON, its kind last': `apply {"data":{"any":"${base64}","more":"${'a'.repeat(100_000)}"},"kind":"Secret"}`,
    }).map(([name, text]): [string, Arguments] => [`${name} in a text`, [{ note: text }, text]]),
  ),
  'a text with placeholders': ['sent Bearer %s with %j and %o', secret, { password: secret }, { apiKey: secret }],
}

t.test('no secret reaches a log line', async (t) => {
  for (const [name, given] of Object.entries(probes)) {
    const line = lines(...given)
    const leaked = [secret, base64, base64.slice(0, -4), basic].filter((part) => line.includes(part))
    t.strictSame(leaked, [], `${name}: ${line.slice(0, 300)}`)
    t.ok(line.length > 0, name)
  }
})

const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'

/** Fields that are logged unchanged. */
const readable: Record<string, object> = {
  'references to Secrets': {
    secretName: 'web-tls',
    secretRef: { name: 'web' },
    secretKeyRef: { name: 'db', key: 'password', optional: false },
    imagePullSecrets: [{ name: 'pull' }],
    secrets: [{ name: 'one' }, { name: 'two' }],
    passwordSecretRef: { name: 'db', key: 'password' },
    volume: { secret: { secretName: 'web-tls', defaultMode: 420, items: [{ key: 'tls.crt', path: 'crt' }] } },
    password: { valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
    projected: { serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 3607 } },
  },
  'what identifies a Secret': {
    object: { kind: 'Secret', metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } }, type: 'Opaque' },
  },
  'a ConfigMap': { object: { kind: 'ConfigMap', metadata: { name: 'a' }, data: { mode: 'fast', key: 'value' } } },
  'words with a secret in them': {
    tokenReviews: 3,
    tokenExpirationSeconds: 600,
    passwordPolicy: 'strict',
    tokenizer: 'a',
    secretsTotal: 4,
    publicKey: 'abc',
    keyUsage: 'signing',
    key: 'default/web',
    queueKey: 'default/web',
    accessKeyId: 'id',
    monkey: 'a',
    bypass: 'b',
    compass: 'c',
    cookies: 2,
    tokens: 5,
    cookieCount: 2,
    authorizationMode: 'RBAC',
  },
  'flags and what is absent': { automountServiceAccountToken: false, token: null, password: '', hasToken: true, secret: true },
  environment: {
    env: [
      { name: 'MODE', value: 'production' },
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'token' } } },
    ],
  },
  'arguments that are no secrets': { args: ['--leader-elect', '--token-file', '/run/token', '--kubeconfig=/a'] },
  'lists of words': { missing: ['token', 'namespace'], keys: ['password', 'user'] },
  certificates: { cert: certificate, caBundle: Buffer.from(certificate).toString('base64'), issuer: 'CN=proreus-ca-01234567' },
  identities: {
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    user: 'system:serviceaccount:default:builder',
    resourceVersion: '123456',
    image: 'registry.example.com/team/image@sha256:' + 'a'.repeat(64),
  },
  'URLs without credentials': {
    url: 'https://127.0.0.1:6443/api/v1/pods?labelSelector=a%3Db',
    remote: 'ssh://git@example.com/a.git',
    mail: 'https://a:8080/?x=a@b.c',
  },
  times: { at: '2026-01-01T00:00:00.000Z', durationMs: 1.5 },
}

t.test('fields without secrets are unchanged', async (t) => {
  for (const [name, fields] of Object.entries(readable)) {
    const parsed = JSON.parse(lines(fields, 'x').split('\n')[0]!) as Record<string, unknown>
    for (const key of ['level', 'time', 'msg']) delete parsed[key]
    t.strictSame(parsed, fields, name)
  }
})

const messages = [
  'Secret default/web-tls not found',
  'secrets "web-tls" is forbidden: User "system:serviceaccount:default:a" cannot get resource "secrets" in API group "" in the namespace "default"',
  'the token has expired, and the password is missing',
  'Bearer token is missing',
  'Bearer authentication is required; basic authentication is not supported',
  'WWW-Authenticate: Bearer realm="kubernetes"',
  'spec.password: Required value',
  'spec.tls.secretName: Invalid value: "Web_TLS": a lowercase RFC 1123 subdomain must consist of lower case letters',
  'spec.template.spec.volumes[0].secret.secretName: Required value',
  'subjectaccessreviews.authorization.k8s.io is forbidden',
  'kind: Secret is not watched; tokenReviews: 3',
  'issued a token for serviceaccounts/builder',
  'restored the certificate authority in Secret default/proreus-webhook-ca: the key does not belong to the certificate',
  '--token needs a value; --token-file must be a file',
  'GET https://127.0.0.1:6443/api/v1/namespaces/default/pods?watch=true&resourceVersion=12 answered 410',
  'dial tcp 10.0.0.1:443: connect: connection refused',
  'MountVolume.SetUp failed for volume "certs" : secret "web-tls" not found',
  'token: the API server refused it',
  'automountServiceAccountToken=false, secretName=web-tls',
  'the webhook for pods.v1 failed: request.userInfo: missing; data: none',
]

t.test('messages without secrets are unchanged', async (t) => {
  for (const message of messages) {
    const parsed = JSON.parse(lines({ note: message }, message).split('\n')[0]!) as Record<string, unknown>
    t.equal(parsed['msg'], message)
    t.equal(parsed['note'], message)
  }
})

t.test('errors keep type, message, code and causes', async (t) => {
  const cause = withProperties('connection refused', { code: 'ECONNREFUSED', port: 443 })
  const error = new ProreusError('PRO_INPUT', 'cannot read', { cause })
  const { err, other } = JSON.parse(lines({ err: error, other: new AggregateError([cause], 'all') }, 'x').split('\n')[0]!) as Record<
    string,
    Record<string, unknown>
  >
  t.match(err, { type: 'ProreusError', message: 'cannot read: connection refused', code: 'PRO_INPUT' })
  t.match(err!['stack'], /cannot read[\s\S]*logger-secrets\.test[\s\S]*caused by: Error: connection refused/)
  t.match(other, { type: 'AggregateError', message: 'all', aggregateErrors: [{ type: 'Error', message: 'connection refused', port: 443 }] })
})

t.test('hostile values neither throw nor take long', async (t) => {
  const cyclic: Record<string, unknown> = { token: secret }
  cyclic['self'] = cyclic
  const frozen = Object.freeze(new Error('frozen', { cause: Object.freeze(new Error('cause')) }))
  const own: Error & { self?: unknown } = new Error('cyclic')
  own.self = own
  own.cause = own
  let chain = new Error('last')
  for (let length = 0; length < 20_000; length += 1) chain = new Error(`Bearer ${secret}`, { cause: chain })
  const endless = (): object =>
    new Proxy(
      {},
      {
        ownKeys: () => ['a', 'b'],
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
        get: (_, key) => (key === 'toJSON' ? undefined : endless()),
      },
    )
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  const throwing = (): never => {
    throw new Error(secret)
  }
  const regenerating = { toJSON: (): object => ({ ...regenerating }) }
  const values: Record<string, unknown> = {
    cyclic,
    frozen,
    own,
    chain,
    endless: endless(),
    revoked,
    'a throwing getter': Object.defineProperty({ a: 1 }, 'b', { enumerable: true, get: throwing }),
    'a throwing toJSON': { toJSON: throwing },
    'a regenerating toJSON': regenerating,
    'throwing traps': new Proxy({}, { get: throwing, ownKeys: throwing, getPrototypeOf: throwing, has: throwing }),
    'an error with throwing getters': Object.defineProperties(new Error('a'), {
      message: { get: throwing },
      stack: { get: throwing },
      cause: { get: throwing },
      extra: { get: throwing, enumerable: true },
    }),
    'an error whose message is no text': Object.assign(new Error(), { message: { token: secret }, stack: [secret], name: 3 }),
    'an error without a prototype': Object.setPrototypeOf(new Error(`Bearer ${secret}`), null) as unknown,
    'a huge AggregateError': new AggregateError(Array.from({ length: 50_000 }, () => new Error(`Bearer ${secret}`))),
    'a huge Map': new Map(Array.from({ length: 200_000 }, (_, index) => [`token-${index}`, { token: secret }])),
    'a huge Set': new Set(Array.from({ length: 200_000 }, (_, index) => `Bearer ${secret}${index}`)),
    'a sparse array': Object.assign([], { length: 4_000_000_000 }),
    'a huge text': 'Bearer '.repeat(2_000_000),
    'many long texts': Array.from({ length: 5_000 }, () => 'a'.repeat(20_000)),
    'deep JSON in a text': '['.repeat(30_000),
    'nested JSON in texts': Array.from({ length: 20 }).reduce<string>((inner) => JSON.stringify([inner]), `Bearer ${secret}`),
    '__proto__ as a key': JSON.parse(`{"__proto__":{"token":"${secret}"}}`) as unknown,
    'a bigint': 12n,
    'a symbol': Symbol('a'),
    'a function': () => secret,
    'an invalid date': new Date(Number.NaN),
  }
  for (const [name, value] of Object.entries(values)) {
    // CPU time is measured, because it does not depend on other processes of the machine.
    const before = process.cpuUsage()
    const line = lines({ value, after: 1 }, 'x')
    const { user, system } = process.cpuUsage(before)
    const ms = (user + system) / 1000
    t.notOk(line.includes(secret), `${name}: ${line.slice(0, 300)}`)
    t.ok(ms < 2_000, `${name} took ${ms.toFixed(0)} ms`)
    t.ok(line.length < 4_000_000, `${name}: ${line.length} characters`)
    for (const one of line.trim().split('\n')) t.match(JSON.parse(one), { level: 'info' }, name)
  }
})
