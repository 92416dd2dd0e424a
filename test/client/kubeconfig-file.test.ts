import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import type { KubeconfigContent } from '../../src/client/kubeconfig-file.ts'
import { impersonationOf, readKubeconfig } from '../../src/client/kubeconfig-file.ts'

/**
 * Writes each of these contents into a kubeconfig file in its own folder, and reads all files. `at(index)` returns the path of a folder.
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

t.test('entries without a name and values of a wrong type are ignored', async (t) => {
  const { content } = await read(t, {
    clusters: [null, 'c', { cluster: {} }, { name: 7 }, { name: 'c' }, { name: 'd', cluster: 'e' }],
    users: { name: 'u' },
    contexts: null,
    'current-context': 7,
  })
  const { files: _, ...rest } = content
  t.strictSame(rest, { clusters: [{ name: 'c' }, { name: 'd', cluster: 'e' }], users: [], contexts: [] })
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
        { name: 'no plugin', user: { exec: { command: 7 } } },
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
    { name: 'no plugin', user: { exec: { command: 7 } } },
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
    files: [],
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
    [{ as: 'jane', 'as-uid': 7, 'as-groups': ['a', 7], 'as-user-extra': { a: 'x', b: [7, 'x'] } }, jane],
    [{ as: 'jane', 'as-groups': 'a', 'as-user-extra': ['x'] }, jane],
    [{ as: '' }, undefined],
    [{ 'as-groups': ['a'] }, undefined],
    [{ as: 7 }, undefined],
    [null, undefined],
  ]
  for (const [user, headers] of cases) t.strictSame(impersonationOf(as(user), 'u'), headers, JSON.stringify(user))
  t.equal(impersonationOf(as({ as: 'jane' }), 'nobody'), undefined)
})
