import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { kubeconfigYaml, writeKubeconfig } from '../../../src/devcluster/state/kubeconfig.ts'

const fields = { server: 'https://127.0.0.1:6443', ca: '-----BEGIN CERTIFICATE-----\n', userName: 'admin', token: 'secret' }

t.test('the kubeconfig is written atomically and readable by its owner only', async (t) => {
  const directory = join(t.testdir(), 'a')
  const path = join(directory, 'kubeconfig')
  await writeKubeconfig(path, { ...fields, token: 'old' })
  await writeKubeconfig(path, fields)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.strictSame(readdirSync(directory).sort(), ['.gitignore', 'kubeconfig'])
  t.strictSame(parse(readFileSync(path, 'utf8')), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'proreus', cluster: { server: fields.server, 'certificate-authority-data': Buffer.from(fields.ca).toString('base64') } },
    ],
    users: [{ name: 'proreus-admin', user: { token: 'secret' } }],
    contexts: [{ name: 'proreus', context: { cluster: 'proreus', user: 'proreus-admin' } }],
    'current-context': 'proreus',
  })
})

t.test('a kubeconfig can have a namespace, and its certificate is on one line', (t) => {
  const ca = 'x'.repeat(500)
  const text = kubeconfigYaml({ ...fields, ca, namespace: 'ns' })
  t.match((parse(text) as { contexts: object[] }).contexts, [{ context: { cluster: 'proreus', user: 'proreus-admin', namespace: 'ns' } }])
  t.ok(text.includes(`certificate-authority-data: ${Buffer.from(ca).toString('base64')}\n`))
  t.end()
})

t.test('a kubeconfig that cannot be written is reported in one sentence', async (t) => {
  const directory = t.testdir({ file: '' })
  const path = join(directory, 'file', 'kubeconfig')
  await t.rejects(writeKubeconfig(path, fields), {
    code: 'PRO_STATE_FILE',
    message: /^Cannot write .*kubeconfig: .*\. Choose another folder, or make this one writable\.$/,
  })
})
