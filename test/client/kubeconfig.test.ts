import { execFile } from 'node:child_process'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { testCertificate } from '../support/certs/client-certificates.ts'

// A running exec plugin does not keep this process alive, so the tests need a timer. In production, the request that waits for the
// credentials keeps the process alive.
const alive = setInterval(() => undefined, 60_000)
t.teardown(() => clearInterval(alive))

const ca = testCertificate('ca')
const client = testCertificate('client', ca)
const base64 = (text: string): string => Buffer.from(text).toString('base64')

interface Parts {
  readonly user?: object
  readonly cluster?: object
  readonly context?: object
  readonly [field: string]: unknown
}
function kubeconfig({ user = { token: 't' }, cluster = {}, context = {}, ...rest }: Parts = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: 'https://api.example.com:6443/', 'certificate-authority-data': base64(ca.cert), ...cluster } },
    ],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'x',
    ...rest,
  })
}
async function file(t: Test, text: string, name = 'config'): Promise<string> {
  const path = join(t.testdir({}), name)
  await writeFile(path, text)
  return path
}

t.test('server, CA, namespace and proxy are read', async (t) => {
  const path = await file(
    t,
    kubeconfig({
      context: { namespace: 'ns' },
      cluster: { 'tls-server-name': 'kubernetes', 'proxy-url': 'http://proxy:3128', 'insecure-skip-tls-verify': true },
    }),
  )
  const { authorization: _, tls: __, ...connection } = await loadConnection({ kubeconfig: path, env: {} })
  t.strictSame(connection, {
    server: 'https://api.example.com:6443',
    ca: ca.cert,
    namespace: 'ns',
    serverName: 'kubernetes',
    proxyUrl: 'http://proxy:3128',
    insecureSkipTlsVerify: true,
    describe: `kubeconfig ${path}, context x`,
  })
})

t.test('the proxy of the environment is used, unless the kubeconfig has one', async (t) => {
  const env = { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'internal.example.com' }
  const proxyFor = async (cluster: object, more: object = {}): Promise<string | undefined> =>
    (await loadConnection({ kubeconfig: await file(t, kubeconfig({ cluster })), env: { ...env, ...more } })).proxyUrl
  t.equal(await proxyFor({}), 'http://proxy:3128')
  t.equal(await proxyFor({ 'proxy-url': 'socks5://own' }), 'socks5://own')
  t.equal(await proxyFor({ server: 'https://api.internal.example.com' }), undefined)
  t.equal(await proxyFor({}, { HTTPS_PROXY: undefined }), undefined)
  const inClusterRoot = t.testdir({ account: { token: 'pod', 'ca.crt': ca.cert } }) + '/account'
  const inCluster = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
  t.equal((await loadConnection({ env: { ...env, ...inCluster }, inClusterRoot })).proxyUrl, 'http://proxy:3128')
  t.equal(
    (await loadConnection({ env: { ...env, ...inCluster, no_proxy: '', NO_PROXY: '10.0.0.0/8' }, inClusterRoot })).proxyUrl,
    undefined,
  )
})

t.test('absent fields are omitted', async (t) => {
  const path = await file(t, kubeconfig({ cluster: { 'certificate-authority-data': undefined }, context: { user: '' } }))
  t.strictSame(await loadConnection({ kubeconfig: path, env: {} }), {
    server: 'https://api.example.com:6443',
    describe: `kubeconfig ${path}, context x`,
  })
})

t.test('a CA file is relative to the kubeconfig, and CA data takes precedence', async (t) => {
  const directory = t.testdir({ 'ca.crt': client.cert })
  const path = join(directory, 'config')
  for (const [data, expected] of [
    [undefined, client.cert],
    [base64(ca.cert), ca.cert],
  ] as const) {
    await writeFile(path, kubeconfig({ cluster: { 'certificate-authority-data': data, 'certificate-authority': 'ca.crt' } }))
    t.equal((await loadConnection({ kubeconfig: path, env: {} })).ca, expected)
  }
})

t.test('credentials', async (t) => {
  const directory = t.testdir({ 'client.crt': client.cert, 'client.key': client.key, token: 'from-file\n', 'plugin.sh': '' })
  const plugin = `#!/bin/sh\necho started >> "${directory}/starts"\nprintf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-plugin-%s"}}' "$(wc -l < "${directory}/starts" | tr -d ' ')"\n`
  await writeFile(join(directory, 'plugin.sh'), plugin)
  await chmod(join(directory, 'plugin.sh'), 0o755)
  const provider = (name: string, config: object): object => ({ 'auth-provider': { name, config } })
  await writeFile(join(directory, 'command.sh'), `#!/bin/sh\necho '{"token":"from-command","expiry":"2999-01-01T00:00:00Z"}'\n`)
  await chmod(join(directory, 'command.sh'), 0o755)
  const expired = {
    ...{ 'access-token': 'old', expiry: '2000-01-01T00:00:00Z' },
    ...{ 'cmd-path': join(directory, 'command.sh'), 'token-key': '{.token}', 'expiry-key': '{.expiry}' },
  }
  const cases: [string, object, string | undefined, { cert?: string; key?: string }][] = [
    ['a token', { token: 'abc' }, 'Bearer abc', {}],
    ['a token file beside the kubeconfig, rather than the token', { tokenFile: 'token', token: 'old' }, 'Bearer from-file', {}],
    ['a name and a password', { username: 'jane', password: 'secret' }, `Basic ${base64('jane:secret')}`, {}],
    ['certificate data', { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) }, undefined, client],
    ['certificate files beside the kubeconfig', { 'client-certificate': 'client.crt', 'client-key': './client.key' }, undefined, client],
    [
      'an exec plugin beside the kubeconfig',
      { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin.sh' } },
      'Bearer from-plugin-1',
      {},
    ],
    [
      'an exec plugin of an auth provider',
      provider('exec', { exec: { command: join(directory, 'plugin.sh') } }),
      'Bearer from-plugin-2',
      {},
    ],
    ['a token, rather than that of an exec plugin', { token: 'abc', exec: { command: './plugin.sh' } }, 'Bearer abc', {}],
    ['the token of gcp', provider('gcp', { 'access-token': 'abc', expiry: '2999-01-01T00:00:00Z' }), 'Bearer abc', {}],
    ['the command of gcp, when the token has expired', provider('gcp', expired), 'Bearer from-command', {}],
    ['the token of azure', provider('azure', { 'access-token': 'abc' }), 'Bearer abc', {}],
    ['the command of azure, when the token has expired', provider('azure', expired), 'Bearer from-command', {}],
    ['an unknown auth provider', provider('other', {}), undefined, {}],
    ['nothing', {}, undefined, {}],
  ]
  for (const [name, user, authorization, certificate] of cases) {
    t.test(name, async (t) => {
      await writeFile(join(directory, 'config'), kubeconfig({ user }))
      const connection = await loadConnection({ kubeconfig: join(directory, 'config'), env: {} })
      t.equal(await connection.authorization?.(), authorization)
      const { cert, key } = (await connection.tls?.()) ?? {}
      t.strictSame({ ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) }, certificate)
    })
  }
  t.test('a plugin is run again when the server refuses its token', async (t) => {
    await rm(join(directory, 'starts'), { force: true })
    await writeFile(
      join(directory, 'config'),
      kubeconfig({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin.sh' } } }),
    )
    const { authorization } = await loadConnection({ kubeconfig: join(directory, 'config'), env: {} })
    t.strictSame(await Promise.all([authorization?.(), authorization?.()]), ['Bearer from-plugin-1', 'Bearer from-plugin-1'])
    t.equal(await authorization?.('Bearer from-plugin-1'), 'Bearer from-plugin-2')
    t.equal(await authorization?.(), 'Bearer from-plugin-2')
  })
  t.test('certificate files are read again after ten seconds', async (t) => {
    const path = await file(t, kubeconfig({ user: { 'client-certificate': 'my.crt', 'client-key-data': base64(client.key) } }))
    const certificate = join(dirname(path), 'my.crt')
    await writeFile(certificate, client.cert)
    const clock = new FakeClock()
    const { tls } = await loadConnection({ kubeconfig: path, env: {}, clock })
    t.strictSame(await tls?.(), client)
    await writeFile(certificate, ca.cert)
    await clock.advance(9_999)
    t.strictSame(await tls?.(), client)
    await clock.advance(1)
    t.strictSame(await tls?.(), { cert: ca.cert, key: client.key })
  })
  t.test('refused credentials are read again, for the chosen context', async (t) => {
    await writeFile(join(directory, 'token'), 'first\n')
    const path = join(directory, 'config')
    await writeFile(
      path,
      stringify({
        clusters: [{ name: 'c', cluster: { server: 'https://api' } }],
        users: [
          { name: 'u', user: { token: 'other' } },
          { name: 'v', user: { tokenFile: 'token' } },
        ],
        contexts: [
          { name: 'x', context: { cluster: 'c', user: 'u' } },
          { name: 'y', context: { cluster: 'c', user: 'v' } },
        ],
        'current-context': 'x',
      }),
    )
    const clock = new FakeClock()
    const { authorization } = await loadConnection({ kubeconfig: path, context: 'y', env: {}, clock })
    t.equal(await authorization?.(), 'Bearer first')
    await writeFile(join(directory, 'token'), 'second\n')
    await clock.advance(9_999)
    t.equal(await authorization?.(), 'Bearer first')
    t.equal(await authorization?.('Bearer first'), 'Bearer second', 'refused')
  })
  t.test('the command of an auth provider is run again when the server refuses its token', async (t) => {
    const command = `#!/bin/sh\necho x >> "${directory}/calls"\necho "{\\"token\\":\\"$(wc -l < "${directory}/calls" | tr -d ' ')\\",\\"expiry\\":\\"2999-01-01T00:00:00Z\\"}"\n`
    await writeFile(join(directory, 'command.sh'), command)
    await writeFile(join(directory, 'config'), kubeconfig({ user: provider('gcp', expired) }))
    const { authorization } = await loadConnection({ kubeconfig: join(directory, 'config'), env: {} })
    t.equal(await authorization?.(), 'Bearer 1')
    t.equal(await authorization?.('Bearer 1'), 'Bearer 2')
  })
  t.test('impersonation is read as headers', async (t) => {
    const path = await file(
      t,
      kubeconfig({
        user: { token: 't', as: 'jane', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { 'example.com/team': ['x'] } },
      }),
    )
    t.strictSame((await loadConnection({ kubeconfig: path, env: {} })).headers, {
      'Impersonate-User': 'jane',
      'Impersonate-Uid': '7',
      'Impersonate-Group': ['a', 'b'],
      'Impersonate-Extra-example.com%2Fteam': ['x'],
    })
  })
  t.test('a server without TLS gets no credentials', async (t) => {
    const path = await file(t, kubeconfig({ cluster: { server: 'http://localhost:8080' } }))
    const connection = await loadConnection({ kubeconfig: path, env: {} })
    t.equal(connection.server, 'http://localhost:8080')
    t.equal(connection.authorization, undefined)
  })
  t.test('a plugin that fails or is missing is an error', async (t) => {
    const path = await file(t, kubeconfig({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin' } } }))
    const { authorization } = await loadConnection({ kubeconfig: path, env: {} })
    await t.rejects(async () => authorization?.(), {
      code: 'PRO_KUBECONFIG',
      message: `The credentials of user "u" in kubeconfig ${path}, context x cannot be had (its exec plugin is no-such-plugin): the command was not found: spawn no-such-plugin ENOENT.`,
    })
    const missing = await file(t, kubeconfig({ user: { 'client-certificate': '/none/client.crt', 'client-key': '/none/client.key' } }))
    const { tls } = await loadConnection({ kubeconfig: missing, env: {} })
    await t.rejects(async () => tls?.(), {
      code: 'PRO_KUBECONFIG',
      message: `The credentials of user "u" in kubeconfig ${missing}, context x cannot be had: ENOENT: no such file or directory, open '/none/client.crt'.`,
      cause: { code: 'ENOENT' },
    })
  })
})

t.test('the lookup order is that of kubectl and controller-runtime', async (t) => {
  const config = (server: string): string => kubeconfig({ cluster: { server } })
  const home = t.testdir({
    '.kube': { config: config('https://home') },
    account: { token: 'pod\n', namespace: 'here', 'ca.crt': ca.cert },
    flag: config('https://flag'),
    variable: config('https://variable'),
  })
  const [flag, variable, inClusterRoot] = [join(home, 'flag'), join(home, 'variable'), join(home, 'account')]
  const inCluster = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
  const server = async (options: Parameters<typeof loadConnection>[0]): Promise<string> =>
    (await loadConnection({ inClusterRoot, ...options })).server
  t.equal(await server({ kubeconfig: flag, env: { KUBECONFIG: variable, HOME: home, ...inCluster } }), 'https://flag')
  t.equal(await server({ env: { KUBECONFIG: variable, HOME: home, ...inCluster } }), 'https://variable')
  t.equal(await server({ env: { KUBECONFIG: '', HOME: home, ...inCluster } }), 'https://[fd00::1]:443')
  const empty = { kubeconfig: '', context: '' }
  t.equal(await server({ ...empty, env: { KUBECONFIG: variable, HOME: home } }), 'https://variable', 'an empty option is not set')
  t.equal(await server({ ...empty, env: { HOME: home, ...inCluster } }), 'https://[fd00::1]:443')
  t.equal(await server({ env: { HOME: home } }), 'https://home')
  t.equal(await server({ env: { HOME: home, ...inCluster }, inClusterRoot: join(home, 'nothing') }), 'https://home', 'no token is mounted')
  t.equal(
    await server({ env: { HOME: home, ...inCluster }, context: 'x' }),
    'https://home',
    "an explicit context excludes the Pod's service account",
  )
  t.equal(await server({ env: { USERPROFILE: home } }), 'https://home', 'on Windows')
  t.equal(await server({ env: { HOME: home, USERPROFILE: variable } }), 'https://home')
  t.equal(await server({ kubeconfig: flag, env: { KUBECONFIG: `${variable}${delimiter}${flag}` } }), 'https://flag')
  t.equal(await server({ env: { KUBECONFIG: `${delimiter}${variable}${delimiter}` } }), 'https://variable')
  await t.rejects(server({ env: { HOME: home, ...inCluster }, context: 'z' }), { message: /has no context "z": it has x\.$/ })

  t.test('in a Pod, the token is read again each minute', async (t) => {
    const clock = new FakeClock()
    const connection = await loadConnection({ env: inCluster, inClusterRoot, clock })
    t.match(connection, { ca: ca.cert, namespace: 'here', describe: `the service account of this Pod (${inClusterRoot})` })
    t.equal(await connection.authorization?.(), 'Bearer pod')
    await writeFile(join(inClusterRoot, 'token'), 'rotated')
    t.equal(await connection.authorization?.(), 'Bearer pod')
    await clock.advance(60_000)
    t.equal(await connection.authorization?.(), 'Bearer rotated')
  })
})

t.test('files in KUBECONFIG are merged, and the first entry wins', async (t) => {
  const directory = t.testdir({})
  const [one, two] = [join(directory, 'one'), join(directory, 'two')]
  await writeFile(one, kubeconfig({ 'current-context': '', cluster: { server: 'https://one' } }))
  await writeFile(
    two,
    kubeconfig({
      cluster: { server: 'https://two' },
      contexts: [{ name: 'y', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'y',
    }),
  )
  const env = { KUBECONFIG: [join(directory, 'missing'), one, two].join(delimiter) }
  t.equal((await loadConnection({ env })).server, 'https://one')
  t.match(await loadConnection({ env, context: 'x' }), { server: 'https://one', describe: /, context x$/ })
})

t.test('errors are one sentence', async (t) => {
  const directory = t.testdir({ broken: 'a: [b\nc: d', empty: '', text: 'hello', directory: {} })
  const at = (name: string): string => join(directory, name)
  const write = async (name: string, parts: Parts): Promise<string> => (await writeFile(at(name), kubeconfig(parts)), at(name))
  const cases: [string, { kubeconfig?: string; context?: string; env?: Record<string, string> }, RegExp | string][] = [
    ['no file', { kubeconfig: at('none') }, `The kubeconfig ${at('none')} does not exist: check --kubeconfig and KUBECONFIG.`],
    [
      'a file in KUBECONFIG alone',
      { env: { KUBECONFIG: at('none') } },
      `The kubeconfig ${at('none')} does not exist: check --kubeconfig and KUBECONFIG.`,
    ],
    [
      'no file of several',
      { env: { KUBECONFIG: `${at('none')}${delimiter}${at('nil')}` } },
      /^None of the files in KUBECONFIG=.* exists: correct the variable/,
    ],
    ['a folder', { kubeconfig: at('directory') }, /^The kubeconfig .*directory is a folder: check --kubeconfig and KUBECONFIG\.$/],
    ['no YAML', { kubeconfig: at('broken') }, /^The kubeconfig .*broken is not valid YAML: .* at line 2, column 1\.$/],
    ['an empty file', { kubeconfig: at('empty') }, /^The kubeconfig .*empty is empty: it must have clusters/],
    ['a text', { kubeconfig: at('text') }, /^The kubeconfig .*text is no kubeconfig/],
    [
      'no current context',
      { kubeconfig: await write('a', { 'current-context': '' }) },
      /has no current-context: choose one with --context \(there is x\)\.$/,
    ],
    ['another context', { kubeconfig: await write('b', {}), context: 'prod' }, /has no context "prod": it has x\.$/],
    [
      'no such cluster',
      { kubeconfig: await write('c', { context: { cluster: 'gone' } }) },
      /names the cluster "gone", which is not there\.$/,
    ],
    ['no such user', { kubeconfig: await write('d', { context: { user: 'gone' } }) }, /names the user "gone", who is not there\.$/],
    [
      'a cluster without a server',
      { kubeconfig: await write('e', { cluster: { server: '' } }) },
      /cannot be used: clusters\[0\]\.cluster\.server is missing\.$/,
    ],
    [
      'a missing CA file',
      { kubeconfig: await write('f', { cluster: { 'certificate-authority-data': undefined, 'certificate-authority': 'ca.crt' } }) },
      /^The certificate-authority .*ca\.crt of kubeconfig .* cannot be read: ENOENT/,
    ],
    [
      'an invalid CA',
      { kubeconfig: await write('g', { cluster: { 'certificate-authority-data': base64('x') } }) },
      /is not a PEM certificate/,
    ],
    [
      'a folder in a list',
      { env: { KUBECONFIG: `${at('none')}${delimiter}${at('directory')}` } },
      `The kubeconfig ${at('directory')} is a folder: check --kubeconfig and KUBECONFIG.`,
    ],
    [
      'a file below a file',
      { env: { KUBECONFIG: `${at('none')}${delimiter}${at('text')}/config` } },
      /^The kubeconfig .*text\/config cannot be read \(ENOTDIR.*\): check --kubeconfig and KUBECONFIG\.$/,
    ],
    [
      'no contexts',
      { kubeconfig: await write('h', { contexts: [], 'current-context': '' }) },
      /has no current-context: choose one with --context \(there are none\)\.$/,
    ],
    ['an empty list of contexts', { kubeconfig: await write('i', { contexts: [] }) }, /has no context "x": it has none at all\.$/],
    [
      'no kubeconfig and no home',
      {},
      'No kubeconfig was found: name one with --kubeconfig or KUBECONFIG; in a Pod, its service account token must be mounted.',
    ],
    [
      'no kubeconfig',
      { env: { HOME: directory } },
      `No kubeconfig was found: name one with --kubeconfig or KUBECONFIG, or create ${at('.kube/config')}; in a Pod, its service account token must be mounted.`,
    ],
  ]
  for (const [name, { env = {}, ...options }, message] of cases) {
    t.test(name, async (t) => {
      await t.rejects(loadConnection({ env, ...options }), { name: 'ProreusError', code: 'PRO_KUBECONFIG', message })
      await loadConnection({ env, ...options }).catch((error: Error) => t.notMatch(error.message, /\n/))
    })
  }
})

t.test('the models of client-node are not loaded', async (t) => {
  const path = await file(t, kubeconfig({ user: { token: 'abc' } }))
  const program = `
    const { registerHooks } = await import('node:module')
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    const { loadConnection } = await import('${import.meta.resolve('../../src/client/kubeconfig.ts')}')
    await (await loadConnection({ kubeconfig: process.argv[1], env: {} })).tls()
    console.log(JSON.stringify(urls.filter((url) => url.includes('@kubernetes/client-node')).map((url) => url.replace(/.*\\/dist\\//, '')).sort()))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program, path])
  t.strictSame(JSON.parse(stdout), ['config_types.js', 'exec_auth.js', 'file_auth.js'])
})
