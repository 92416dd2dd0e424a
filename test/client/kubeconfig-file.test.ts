import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import type { KubeconfigContent } from '../../src/client/kubeconfig-file.ts'
import { impersonationOf, readKubeconfig } from '../../src/client/kubeconfig-file.ts'

/**
 * Writes each of these contents into a kubeconfig file in a separate folder, and reads all files. `at(index)` returns the path of a folder.
 */
async function read(t: Test, ...contents: readonly object[]): Promise<{ content: KubeconfigContent; at: (index: number) => string }> {
  const root = t.testdir(Object.fromEntries(contents.map((_, index) => [String(index), {}])))
  const at = (index: number): string => join(root, String(index))
  const files = contents.map((_, index) => join(at(index), 'config'))
  for (const [index, content] of contents.entries()) await writeFile(files[index]!, stringify(content))
  return { content: await readKubeconfig(files), at }
}

t.test('the first of several entries with a name wins, and the order is kept', async (t) => {
  const cluster = (name: string, server: string): object => ({ name, cluster: { server } })
  const user = (name: string, token: string): object => ({ name, user: { token } })
  const context = (name: string, namespace: string): object => ({ name, context: { namespace } })
  const { content, at } = await read(
    t,
    {
      clusters: [cluster('b', 'one'), cluster('b', 'again')],
      users: [user('u', 'one')],
      contexts: [context('x', 'one')],
      'current-context': '',
    },
    {
      clusters: [cluster('b', 'two'), cluster('a', 'two')],
      users: [user('u', 'two'), user('v', 'two')],
      contexts: [context('x', 'two'), context('y', 'two')],
      'current-context': 'y',
    },
    { 'current-context': 'x' },
  )
  t.strictSame(content, {
    files: [0, 1, 2].map((index) => join(at(index), 'config')),
    clusters: [cluster('b', 'one'), cluster('a', 'two')],
    users: [user('u', 'one'), user('v', 'two')],
    contexts: [context('x', 'one'), context('y', 'two')],
    currentContext: 'y',
  })
})

t.test('entries without a name are ignored, and null is a missing value', async (t) => {
  const { content } = await read(t, {
    clusters: [null, { cluster: {} }, { name: null }, { name: 'c' }, { name: 'd', cluster: null, other: 7 }],
    users: null,
    contexts: [],
    'current-context': null,
    preferences: {},
  })
  const { files: _, ...rest } = content
  t.strictSame(rest, { clusters: [{ name: 'c' }, { name: 'd', cluster: null, other: 7 }], users: [], contexts: [] })
})

t.test('a field of a wrong type is refused, as in kubectl, without its value', async (t) => {
  const user = (fields: object): object => ({ users: [null, { name: 'u', user: { token: 'a', ...fields } }] })
  const cluster = (fields: object): object => ({ clusters: [{ name: 'c', cluster: { server: 'https://a', ...fields } }] })
  const number = 'a number; expected is a string: put the value in quotes'
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'x' }
  for (const [content, problem] of [
    [user({ as: 1234 }), `users["u"].user.as is ${number}`],
    [user({ as: true }), 'users["u"].user.as is a boolean; expected is a string: put the value in quotes'],
    [user({ as: ['jane'] }), 'users["u"].user.as is a list; expected is a string'],
    [user({ 'as-groups': 'viewers' }), 'users["u"].user.as-groups is a string; expected is a list'],
    [user({ 'as-groups': ['a', 1000] }), `users["u"].user.as-groups[1] is ${number}`],
    [user({ 'as-groups': [null] }), 'users["u"].user.as-groups[0] is null; expected is a string'],
    [user({ 'as-uid': 7 }), `users["u"].user.as-uid is ${number}`],
    [user({ 'as-user-extra': ['x'] }), 'users["u"].user.as-user-extra is a list; expected is an object'],
    [user({ 'as-user-extra': { a: 'x' } }), 'users["u"].user.as-user-extra["a"] is a string; expected is a list'],
    [user({ token: 123 }), `users["u"].user.token is ${number}`],
    [user({ password: 123 }), `users["u"].user.password is ${number}`],
    [user({ 'client-key-data': {} }), 'users["u"].user.client-key-data is an object; expected is a string'],
    [user({ exec: 'x' }), 'users["u"].user.exec is a string; expected is an object'],
    [user({ exec: { ...exec, args: ['a', 1] } }), `users["u"].user.exec.args[1] is ${number}`],
    [user({ exec: { ...exec, env: [{ name: 'A', value: 1 }] } }), `users["u"].user.exec.env["A"].value is ${number}`],
    [
      user({ exec: { ...exec, provideClusterInfo: 'true' } }),
      'users["u"].user.exec.provideClusterInfo is a string; expected is true or false',
    ],
    [user({ 'auth-provider': { name: 'oidc', config: { a: 1 } } }), `users["u"].user.auth-provider.config["a"] is ${number}`],
    [
      user({ 'auth-provider': { name: 'exec', config: { exec: { command: 1 } } } }),
      `users["u"].user.auth-provider.config["exec"].command is ${number}`,
    ],
    [
      cluster({ 'insecure-skip-tls-verify': 'true' }),
      'clusters["c"].cluster.insecure-skip-tls-verify is a string; expected is true or false',
    ],
    [cluster({ 'tls-server-name': 7 }), `clusters["c"].cluster.tls-server-name is ${number}`],
    [cluster({ 'proxy-url': ['http://proxy'] }), 'clusters["c"].cluster.proxy-url is a list; expected is a string'],
    [{ contexts: [{ name: 'x', context: { namespace: 7 } }] }, `contexts["x"].context.namespace is ${number}`],
    [{ users: [{ name: 7, user: {} }] }, `users[0].name is ${number}`],
    [{ users: { name: 'u' } }, 'users is an object; expected is a list'],
    [{ clusters: ['c'] }, 'clusters[0] is a string; expected is an object'],
    [{ 'current-context': 7 }, `current-context is ${number}`],
  ] as const) {
    const file = join(t.testdir({ config: stringify(content) }), 'config')
    await t.rejects(readKubeconfig([file]), { code: 'PRO_KUBECONFIG', message: `The kubeconfig ${file} is invalid: ${problem}.` }, problem)
  }
})

t.test('an error about YAML has the position and the reason, and no text of the file', async (t) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  for (const [text, reason] of [
    ['users:\n- token: *s3cretToken\n', 'an alias is invalid'],
    ['token: "s3cretToken\nb: c', 'missing char at line 2, column 5'],
    ['token: s3cretToken: b', 'block as implicit key at line 1, column 8'],
    ['users:\n- token: s3cretToken\n  s3cret: a\n  s3cret: b', 'duplicate key at line 4, column 3'],
    ['token: !s3cretToken s3cretToken\n\tb: s3cretToken', 'tab as indent at line 2, column 1'],
    [`token: ${'['.repeat(20_000)}s3cretToken`, 'resource exhaustion at line 1, column 802'],
  ] as const) {
    const file = join(t.testdir({ config: text }), 'config')
    const error = await readKubeconfig([file]).catch((thrown: unknown) => thrown)
    t.match(error, { code: 'PRO_KUBECONFIG', message: `The kubeconfig ${file} is not valid YAML: ${reason}.` }, text.slice(0, 50))
    t.notMatch(inspect(error, { depth: 9 }), /s3cret/)
  }
  await readKubeconfig([join(t.testdir({ config: 'token: !s3cretToken s3cretToken' }), 'config')])
  await new Promise(setImmediate)
  t.strictSame(warnings, [])
})

t.test('a kubeconfig with many keys is read in a moment', async (t) => {
  const keys = Array.from({ length: 40_000 }, (_, index) => `  "k${index}": ""`).join('\n')
  const file = join(t.testdir({ config: `extensions:\n${keys}\nusers:\n- name: u\n  user: {}\n` }), 'config')
  t.strictSame((await readKubeconfig([file])).users, [{ name: 'u', user: {} }])
})

t.test('paths are relative to the file that names them', async (t) => {
  const files = { 'client-certificate': 'a.crt', 'client-key': '../a.key' }
  const { content, at } = await read(
    t,
    {},
    {
      clusters: [{ name: 'c', cluster: { server: 's', 'certificate-authority': 'ca.crt' } }],
      users: [
        { name: 'files', user: files },
        { name: 'absolute', user: { 'client-certificate': '/a.crt', 'client-key': '' } },
        { name: 'plugin', user: { exec: { command: './plugin', args: ['./a'] } } },
        { name: 'on the PATH', user: { exec: { command: 'plugin' } } },
        { name: 'no plugin', user: { exec: {} } },
        { name: 'nothing', user: null },
      ],
    },
  )
  t.strictSame(content.clusters, [{ name: 'c', cluster: { server: 's', 'certificate-authority': join(at(1), 'ca.crt') } }])
  t.strictSame(content.users, [
    { name: 'files', user: { 'client-certificate': join(at(1), 'a.crt'), 'client-key': resolve(at(1), '../a.key') } },
    { name: 'absolute', user: { 'client-certificate': '/a.crt', 'client-key': '' } },
    { name: 'plugin', user: { exec: { command: join(at(1), 'plugin'), args: ['./a'] } } },
    { name: 'on the PATH', user: { exec: { command: 'plugin' } } },
    { name: 'no plugin', user: { exec: {} } },
    { name: 'nothing', user: null },
  ])
})

t.test('data takes precedence over files, and a token file over a token, as in kubectl', async (t) => {
  const { content, at } = await read(t, {
    users: [
      {
        name: 'data',
        user: { 'client-certificate': 'a', 'client-certificate-data': 'A', 'client-key': 'b', 'client-key-data': 'B' },
      },
      {
        name: 'one of each',
        user: { 'client-certificate': '/a', 'client-certificate-data': '', 'client-key': '/b', 'client-key-data': 'B' },
      },
      { name: 'token', user: { tokenFile: 'token', token: 'old' } },
    ],
  })
  const tokenFile = join(at(0), 'token')
  t.strictSame(content.users, [
    { name: 'data', user: { 'client-certificate-data': 'A', 'client-key-data': 'B' } },
    { name: 'one of each', user: { 'client-certificate': '/a', 'client-certificate-data': '', 'client-key-data': 'B' } },
    { name: 'token', user: { tokenFile, 'auth-provider': { name: 'tokenFile', config: { tokenFile } } } },
  ])
})

t.test('impersonation becomes headers', async (t) => {
  const as = (user: unknown): KubeconfigContent => ({
    files: ['a.yaml'],
    clusters: [],
    users: [{ name: 'other', user: { as: 'no' } }, { name: 'u', user } as KubeconfigContent['users'][number]],
    contexts: [],
  })
  const jane = { 'Impersonate-User': 'jane' }
  const cases: readonly (readonly [unknown, object | undefined])[] = [
    [{ as: 'jane' }, jane],
    [
      { as: 'jane', 'as-uid': '7' },
      { ...jane, 'Impersonate-Uid': '7' },
    ],
    [
      { as: 'jane', 'as-groups': ['a', 'b'] },
      { ...jane, 'Impersonate-Group': ['a', 'b'] },
    ],
    [
      { as: 'jane', 'as-user-extra': { 'a/b': ['x', 'y'], c: ['z'] } },
      { ...jane, 'Impersonate-Extra-a%2Fb': ['x', 'y'], 'Impersonate-Extra-c': ['z'] },
    ],
    [{ as: 'jane', 'as-uid': null, 'as-groups': null, 'as-user-extra': { a: null } }, jane],
    [{ as: '', 'as-uid': '', 'as-groups': [], 'as-user-extra': {} }, undefined],
    [{ as: null, 'as-uid': null }, undefined],
    [null, undefined],
  ]
  for (const [user, headers] of cases) t.strictSame(impersonationOf(as(user), 'u'), headers, JSON.stringify(user))
  t.equal(impersonationOf(as({ as: 'jane' }), 'nobody'), undefined)
  for (const fields of [{ 'as-groups': ['a'] }, { 'as-uid': '7', as: '' }, { 'as-user-extra': { a: ['x'] }, as: null }]) {
    const [field] = Object.keys(fields)
    const message = `The user "u" of the kubeconfig a.yaml has ${field} without as: add the name of the user to impersonate, or remove ${field}.`
    t.throws(() => impersonationOf(as(fields), 'u'), { code: 'PRO_KUBECONFIG', message })
  }
})
