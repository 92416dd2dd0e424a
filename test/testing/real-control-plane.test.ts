/** Tests of the start of a real control plane. Its binaries are replaced by fakes. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { createClient } from '../../src/client/client.ts'
import { pod } from '../../src/api/builtin.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { fakePrograms } from '../support/process/fake-programs.ts'
import { until } from '../../src/testing/until.ts'

/** Returns the arguments with placeholders for the folder and the ports. The folder and the ports differ between runs. */
function plain(args: unknown, folder: string): string[] {
  return (args as string[]).map((argument) => argument.replaceAll(folder, 'FOLDER').replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')) // prettier-ignore
}

const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]

t.test('without controllers, a control plane is etcd and kube-apiserver, with tokens for users', async (t) => {
  const { env, notes } = fakePrograms(t.testdir())
  const controlPlane = await startControlPlane({
    backend: 'binaries',
    controllers: false,
    env,
    namespaces: ['one', 'one', 'two'],
    users: [
      { name: 'reader', groups: ['a', 'b'], rules, namespaceRules: { one: rules } },
      { name: 'nobody', rules: [] },
    ],
    serviceAccounts: [{ name: 'two/robot', rules }],
  })
  t.teardown(() => controlPlane.stop())
  t.equal(controlPlane.backend, 'binaries')
  const folder = dirname(controlPlane.kubeconfig)
  t.equal(controlPlane.kubeconfig, join(folder, 'admin.kubeconfig'))

  await until('etcd has started', () => notes('etcd').length > 0)
  const [etcd] = notes('etcd')
  t.strictSame(plain(etcd!.args, folder), [
    '--data-dir=FOLDER/etcd',
    '--listen-client-urls=http://127.0.0.1:PORT',
    '--advertise-client-urls=http://127.0.0.1:PORT',
    '--listen-peer-urls=http://127.0.0.1:PORT',
    '--initial-advertise-peer-urls=http://127.0.0.1:PORT',
    '--initial-cluster=default=http://127.0.0.1:PORT',
    '--unsafe-no-fsync',
    '--log-level=warn',
  ])
  const urls = (etcd!.args as string[]).map((argument) => argument.replace(/^.*=/, '')).filter((value) => value.startsWith('http'))
  t.strictSame([urls[1], urls[3], urls[4]], [urls[0], urls[2], urls[2]]) // prettier-ignore
  t.not(urls[0], urls[2])
  const [server, { tokens }] = notes('kube-apiserver') as [Record<string, unknown>, { tokens: string }]
  const port = new URL(controlPlane.connection.server).port
  t.strictSame(plain(server.args, folder), [
    '--etcd-servers=http://127.0.0.1:PORT',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--tls-cert-file=FOLDER/tls.crt',
    '--tls-private-key-file=FOLDER/tls.key',
    '--authorization-mode=RBAC',
    '--token-auth-file=FOLDER/tokens.csv',
    '--client-ca-file=FOLDER/ca.crt',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-key-file=FOLDER/sa.pub',
    '--service-account-signing-key-file=FOLDER/sa.key',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    '--enable-aggregator-routing=true',
    '--allow-privileged=true',
    '--audit-policy-file=FOLDER/audit-policy.yaml',
    '--audit-log-path=FOLDER/audit.log',
    '--disable-admission-plugins=ServiceAccount',
  ])
  t.ok((server.args as string[]).includes(`--etcd-servers=${urls[0]}`))
  const lines = tokens.split('\n')
  t.equal(new Set(lines.map((line) => line.split(',')[0])).size, 7, 'each has its own token')
  t.strictSame(
    lines.map((line) => line.replace(/^[^,]+,/, '')),
    [
      'kubernetes-admin,kubernetes-admin,"system:masters"',
      'system:kube-controller-manager,system:kube-controller-manager,"system:masters"',
      'system:kube-scheduler,system:kube-scheduler',
      'kwok,kwok,"system:masters"',
      'reader,reader,"a,b"',
      'nobody,nobody',
      'system:serviceaccount:two:robot,system:serviceaccount:two:robot,"system:serviceaccounts,system:serviceaccounts:two"',
    ],
  )
  for (const name of ['ca.crt', 'tls.key', 'sa.key', 'tokens.csv', 'admin.kubeconfig', 'kwok.yaml'])
    t.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name)
  t.match(readFileSync(join(folder, 'sa.key'), 'utf8'), /^-----BEGIN RSA PRIVATE KEY-----/)
  t.match(readFileSync(join(folder, 'sa.pub'), 'utf8'), /^-----BEGIN PUBLIC KEY-----/)
  t.equal(readFileSync(join(folder, 'ca.crt'), 'utf8'), controlPlane.connection.ca)
  t.strictSame(JSON.parse(readFileSync(join(folder, 'audit-policy.yaml'), 'utf8')), {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata' }],
  })
  for (const name of ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const) t.strictSame(notes(name), [], name)

  const apiRequests = notes('kube-apiserver').slice(2)
  t.ok(apiRequests.every(({ user }) => user === 'kubernetes-admin'))
  const created = apiRequests.filter(({ request }) => String(request).startsWith('POST'))
  const group = 'rbac.authorization.k8s.io'
  const path = `POST /apis/${group}/v1`
  const subjects = (name: string): object[] => [{ apiGroup: group, kind: 'User', name }]
  const grants = (plural: string, kind: string, name: string, user: string, namespace?: string): object[] => {
    const metadata = { name, ...(namespace && { namespace }) }
    const where = namespace === undefined ? '' : `/namespaces/${namespace}`
    const apiVersion = `${group}/v1`
    return [
      { request: `${path}${where}/${plural}s`, body: { apiVersion, kind, metadata, rules } },
      {
        request: `${path}${where}/${plural}bindings`,
        body: { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { apiGroup: group, kind, name }, subjects: subjects(user) },
      },
    ]
  }
  t.strictSame(
    created.map(({ request, body }) => ({ request, body })),
    [
      ...['one', 'two'].map((name) => ({
        request: 'POST /api/v1/namespaces',
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      })),
      ...grants('clusterrole', 'ClusterRole', 'proreus-test-0', 'reader'),
      ...grants('role', 'Role', 'proreus-test-0', 'reader', 'one'),
      ...grants('clusterrole', 'ClusterRole', 'proreus-test-2', 'system:serviceaccount:two:robot'),
      {
        request: 'POST /api/v1/namespaces/two/serviceaccounts',
        body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'two', name: 'robot' } },
      },
    ],
  )

  const reader = createClient(controlPlane.connectionFor('reader'))
  t.teardown(() => reader.close())
  await reader.list(pod)
  t.match(notes('kube-apiserver').at(-1), { user: 'reader', request: 'GET /api/v1/pods' })
  t.equal(controlPlane.connectionFor('reader').describe, 'the control plane of the test, as reader')
  t.throws(() => controlPlane.connectionFor('writer'), {
    code: 'PRO_INPUT',
    message: 'There is no user "writer" in this control plane: name it in the option users.',
  })
  t.strictSame(await controlPlane.requests(), [
    { at: Date.parse('2026-01-01T00:00:00Z'), verb: 'list', user: 'u', path: '/api/v1/pods', query: 'a=b', code: 0 },
  ])
  await until('etcd listens', () => fetch(urls[0]!).then(() => true))
  await controlPlane.compact()
  const key = Buffer.from('compact_rev_key').toString('base64')
  t.strictSame(notes('etcd').slice(1), [
    { request: 'POST /v3/kv/range', body: { key } },
    { request: 'POST /v3/kv/put', body: { key, value: Buffer.from('7').toString('base64') } },
    { request: 'POST /v3/kv/compaction', body: { revision: '7' } },
  ])
  await controlPlane.stop()
  t.notOk(existsSync(folder))
})

t.test('with controllers there are more programs, and nodes on request', async (t) => {
  const { env, notes } = fakePrograms(t.testdir())
  const controlPlane = await startControlPlane({
    backend: 'binaries',
    env,
    nodes: [{ name: 'n', labels: { a: 'b' } }],
    namespaces: ['one'],
  })
  t.teardown(() => controlPlane.stop())
  const folder = dirname(controlPlane.kubeconfig)
  const others = ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const
  await until('all have started', () => others.every((name) => notes(name).length > 0))
  t.strictSame(plain(notes('kube-controller-manager')[0]!.args, folder), [
    '--kubeconfig=FOLDER/kube-controller-manager.kubeconfig',
    '--service-account-private-key-file=FOLDER/sa.key',
    '--root-ca-file=FOLDER/ca.crt',
    '--cluster-signing-cert-file=FOLDER/ca.crt',
    '--cluster-signing-key-file=FOLDER/ca.key',
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--use-service-account-credentials=false',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ])
  t.strictSame(plain(notes('kube-scheduler')[0]!.args, folder), [
    '--kubeconfig=FOLDER/kube-scheduler.kubeconfig',
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    '--secure-port=0',
  ])
  t.strictSame(plain(notes('kwok')[0]!.args, folder), [
    '--kubeconfig=FOLDER/kwok.kubeconfig',
    '--config=FOLDER/kwok.yaml',
    '--manage-nodes-with-annotation-selector=!simulate.proreus.dev/kubelet',
    '--cidr=10.244.0.1/16',
    '--node-port=0',
  ])
  t.notOk((notes('kube-apiserver')[0]!.args as string[]).some((argument) => argument.startsWith('--disable-admission-plugins')))
  const requests = notes('kube-apiserver').map(({ request }) => request)
  for (const request of [
    'GET /api/v1/namespaces/default/serviceaccounts/default',
    'GET /api/v1/namespaces/one/serviceaccounts/default',
    'GET /api/v1/nodes',
  ])
    t.ok(requests.includes(request), request)
  t.ok(
    requests.some((request) => String(request).startsWith('PATCH /api/v1/nodes/n/status')),
    'the node is updated, or created if it is missing',
  )
})

t.test('a program that ends at its start is reported with its output, and only a used port is retried', async (t) => {
  const start = (words: string) => {
    const { env, notes } = fakePrograms(t.testdir(), {
      etcd: `console.error('${words}')\nprocess.exit(1)\n`,
      'kube-apiserver': 'setInterval(() => undefined, 1000)\n', // kube-apiserver without etcd is never ready
    })
    return { notes, started: startControlPlane({ backend: 'binaries', controllers: false, env }) }
  }
  const broken = start('no disk')
  await t.rejects(broken.started, { code: 'PRO_API_UNREACHABLE', message: 'etcd has ended at its start:\nno disk' })
  t.equal(broken.notes('etcd').length, 1)
  const taken = start('listen tcp: address already in use')
  await t.rejects(taken.started, { message: 'address already in use' })
  t.equal(taken.notes('etcd').length, 3)
})
