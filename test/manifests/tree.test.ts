import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { namesOf } from '../../src/manager/installation-names.ts'
import { crdOf } from '../../src/manifests/crd.ts'
import {
  leaderElectionRole,
  managerRole,
  managerRoleBinding,
  metricsReaderRole,
  userRoles,
  webhookCaRole,
} from '../../src/manifests/rbac.ts'
import { generatedFiles, staleFiles, writeFiles } from '../../src/manifests/tree.ts'
import { webhookConfigurations } from '../../src/manifests/webhook-configuration.ts'
import { manifestText } from '../../src/manifests/yaml.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'

t.test('obsolete CRD files are removed, and other files are kept', async (t) => {
  const directory = t.testdir({ crd: { bases: { 'kept.yaml': 'a', 'old.yaml': 'b', 'README.md': 'mine' }, 'own.yaml': 'mine' } })
  const files = new Map([
    ['crd/bases/kept.yaml', 'a'],
    ['crd/bases/new.yaml', 'c'],
  ])
  const stale = ['crd/bases/new.yaml', 'crd/bases/old.yaml']
  t.strictSame(await staleFiles(directory, files), stale)
  t.strictSame(await writeFiles(directory, files), stale)
  t.strictSame(await writeFiles(directory, files), [])
  t.strictSame(readdirSync(join(directory, 'crd/bases')).sort(), ['README.md', 'kept.yaml', 'new.yaml'])
  t.strictSame(readdirSync(join(directory, 'crd')).sort(), ['bases', 'own.yaml'])
})

t.test('each file has its objects, with the names of the installation', (t) => {
  const versions = [{ name: 'v1', spec: Type.Object({}) }] as const
  const [a, b] = ['B', 'A'].map((kind) => defineKind({ group: `${kind.toLowerCase()}.example.com`, kind, versions })) as [
    ReturnType<typeof defineKind>,
    ReturnType<typeof defineKind>,
  ]
  const operator = defineOperator({ name: 'o', kinds: [a, b], webhooks: [defineWebhook(a)] })
  const names = namesOf('mine')
  const service = { namespace: 'mine-system', name: 'mine-webhook' }
  const crds = [['crd/bases/b.example.com_bs.yaml', a], ['crd/bases/a.example.com_as.yaml', b]] as const // prettier-ignore
  t.strictSame([...generatedFiles([operator], 'mine')], [
    ...crds.map(([path, kind]) => [path, manifestText(crdOf(kind))]),
    [
      'crd/kustomization.yaml',
      manifestText({
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        resources: ['bases/b.example.com_bs.yaml', 'bases/a.example.com_as.yaml'],
      }),
    ],
    ['rbac/role.yaml', manifestText(managerRole([operator], names))],
    ['rbac/role_binding.yaml', manifestText(managerRoleBinding(names))],
    ['rbac/leader_election_role.yaml', manifestText(...leaderElectionRole(names))],
    ['rbac/metrics_reader_role.yaml', manifestText(metricsReaderRole(names))],
    ['rbac/user_roles.yaml', manifestText(...userRoles([operator], 'mine'))],
    ['rbac/webhook_ca_role.yaml', manifestText(...webhookCaRole(names))],
    ['webhook/manifests.yaml', manifestText(...webhookConfigurations([operator], { service }, names))],
  ]) // prettier-ignore
  t.throws(() => generatedFiles([operator, defineOperator({ name: 'p', kinds: [] })]), {
    code: 'PRO_CONFIG_INVALID',
    message: /has no name/,
  })
  t.end()
})

t.test('the CRD of a kind with converters has its conversion webhook, and operators with other definitions of a kind are refused', (t) => {
  const versions = [
    { name: 'v1', storage: true, spec: Type.Object({ size: Type.Integer() }) },
    { name: 'v2', spec: Type.Object({ replicas: Type.Integer() }) },
  ] as const
  const converted = defineKind({ group: 'example.com', kind: 'Converted', versions })
  const plain = defineKind({ group: 'example.com', kind: 'Plain', versions: [{ name: 'v1', spec: Type.Object({}) }] })
  const conversion = defineConversion(converted, {
    converters: {
      v2: { toHub: ({ spec }) => ({ spec: { size: spec.replicas } }), fromHub: ({ spec }) => ({ spec: { replicas: spec.size } }) },
    },
  })
  const operator = defineOperator({ name: 'o', kinds: [plain, converted], conversions: [conversion] })
  const files = generatedFiles([operator])
  t.equal(files.get('crd/bases/example.com_plains.yaml'), manifestText(crdOf(plain)))
  const service = { namespace: 'o-system', name: 'o-webhook' }
  t.equal(files.get('crd/bases/example.com_converteds.yaml'), manifestText(crdOf(converted, { service })))
  const other = defineKind({ group: 'example.com', kind: 'Plain', versions: [{ name: 'v2', spec: Type.Object({}) }] })
  t.throws(() => generatedFiles([operator, defineOperator({ name: 'p', kinds: [other] })], 'mine'), {
    code: 'PRO_CONFIG_INVALID',
    message: /^These operators cannot run together: "o" and "p" define Plain\.example\.com differently: /,
  })
  t.end()
})

t.test('a manifest is plain YAML with a header', (t) => {
  const shared = { a: 'x'.repeat(100) }
  t.equal(
    manifestText({ first: shared, second: shared }, { b: [] }),
    `# Generated by "proreus generate" from what the operators define; do not edit.
---
first:
  a: ${shared.a}
second:
  a: ${shared.a}
---
b: []
`,
  )
  t.end()
})

t.test('a folder that cannot be written is reported in one sentence', async (t) => {
  const directory = join(t.testdir({ file: '' }), 'file')
  await t.rejects(writeFiles(directory, new Map([['a/b.yaml', 'c']])), {
    code: 'PRO_PERMISSION',
    message: new RegExp(`^The files cannot be written to ${directory}: ENOTDIR.*\\. Make the folder writable, or choose another one\\.$`),
    cause: { code: 'ENOTDIR' },
  })
})

t.test('missing and different files are stale, in order', async (t) => {
  const directory = t.testdir({ b: 'old', c: 'kept' })
  const files = new Map([['c', 'kept'], ['b', 'new'], ['a', 'x']]) // prettier-ignore
  t.strictSame(await staleFiles(directory, files), ['a', 'b'])
})
