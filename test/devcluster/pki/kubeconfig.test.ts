import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { writeKubeconfig } from '../../../src/devcluster/pki/kubeconfig.ts'

const fields = { server: 'https://127.0.0.1:6443', ca: '-----BEGIN CERTIFICATE-----\n', userName: 'admin', token: 'secret' }

t.test('the kubeconfig appears complete, for its owner alone', async (t) => {
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
