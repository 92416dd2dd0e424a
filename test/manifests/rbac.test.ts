import t from 'tap'
import { configMap, pod, secret } from '../../src/api/builtin.ts'
import { openSecretCertificates } from '../../src/certs/secret-store.ts'
import { createClient } from '../../src/client/client.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { defineKind } from '../../src/api/kind.ts'
import { rbac } from '../../src/api/kubernetes/rbac.ts'
import { Type } from '../../src/api/type.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { namesOf } from '../../src/manager/installation-names.ts'
import type { Operator } from '../../src/manager/operator.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import type { PolicyRule } from '../../src/api/policy-rule.ts'
import { managerRole, metricsReaderRole, mergeRules, userRoles, webhookCaRole } from '../../src/manifests/rbac.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const labels = { 'app.kubernetes.io/name': 'mine', 'app.kubernetes.io/part-of': 'mine' }

t.test('the role of the process has the rules of each part, and no more', (t) => {
  const reconcile = async (): Promise<void> => undefined
  const operator = defineOperator({
    name: 'o',
    kinds: [kind],
    webhooks: [
      defineWebhook(kind, {
        reads: [secret],
        rbac: [{ apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] }],
      }),
    ],
    controllers: [
      defineController(kind, { reconcile, rbac: [{ apiGroups: [''], resources: [configMap.plural], verbs: ['patch', 'create'] }] }),
    ],
    rbac: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['delete'] }],
    runnables: [{ name: 'import', run: reconcile, reads: [pod] }],
  })
  t.strictSame(managerRole([operator], namesOf('mine')), {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'mine-manager', labels },
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
      ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map((resource) => ({
        apiGroups: ['admissionregistration.k8s.io'],
        resources: [resource],
        resourceNames: ['mine-mutating', 'mine-validating'],
        verbs: ['get', 'patch'],
      })),
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['delete'] },
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      { apiGroups: ['example.com'], resources: ['things'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['example.com'], resources: ['things/finalizers'], verbs: ['update'] },
      { apiGroups: ['example.com'], resources: ['things/status'], verbs: ['patch', 'update'] },
    ],
  })
  t.end()
})

t.test('the role grants the caBundle of the CRDs with a conversion webhook, and of no others', (t) => {
  const converted = defineKind({
    group: 'example.com',
    kind: 'Converted',
    versions: [
      { name: 'v1', storage: true, spec: Type.Object({ size: Type.Integer() }) },
      { name: 'v2', spec: Type.Object({ replicas: Type.Integer() }) },
    ],
  })
  const conversion = defineConversion(converted, {
    converters: {
      v2: { toHub: ({ spec }) => ({ spec: { size: spec.replicas } }), fromHub: ({ spec }) => ({ spec: { replicas: spec.size } }) },
    },
  })
  const ofDefinitions = (...operators: Operator[]): unknown[] =>
    (managerRole(operators, namesOf('mine')).rules as { resources: string[] }[]).filter(
      ({ resources }) => resources[0] === 'customresourcedefinitions',
    )
  const plain = defineOperator({ name: 'plain', kinds: [kind] })
  t.strictSame(ofDefinitions(plain), [])
  t.strictSame(ofDefinitions(plain, defineOperator({ name: 'both', kinds: [kind, converted], conversions: [conversion] })), [
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: ['converteds.example.com'],
      verbs: ['get', 'patch'],
    },
  ])
  t.end()
})

t.test('each kind has a viewer and an editor role that aggregate to those of the cluster', (t) => {
  const role = (suffix: string, verbs: string[], ...targets: string[]): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `mine-thing-${suffix}`,
      labels: { ...labels, ...Object.fromEntries(targets.map((target) => [`rbac.authorization.k8s.io/aggregate-to-${target}`, 'true'])) },
    },
    rules: [
      { apiGroups: ['example.com'], resources: ['things'], verbs },
      { apiGroups: ['example.com'], resources: ['things/status'], verbs: ['get'] },
    ],
  })
  const operators = ['a', 'b'].map((name) => defineOperator({ name, kinds: [kind] }))
  t.strictSame(userRoles(operators, 'mine'), [
    role('viewer', ['get', 'list', 'watch'], 'view'),
    role('editor', ['create', 'delete', 'deletecollection', 'get', 'list', 'watch', 'patch', 'update'], 'edit', 'admin'),
  ])
  t.end()
})

t.test('the roles of two kinds with one name have the groups in their names', async (t) => {
  const kinds = ['a.example.com', 'b.example.com'].map((group) =>
    defineKind({ group, kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] }),
  )
  const names = userRoles([defineOperator({ name: 'a', kinds })], 'mine').map(({ metadata }) => (metadata as { name: string }).name)
  t.strictSame(
    names,
    ['a', 'b'].flatMap((group) => ['viewer', 'editor'].map((suffix) => `mine-things.${group}.example.com-${suffix}`)),
  )
})

t.test('rules for paths that are not resources are merged, too', async (t) => {
  const rule = (nonResourceURLs: string[], verbs: string[]): PolicyRule => ({ apiGroups: [], resources: [], nonResourceURLs, verbs })
  t.strictSame(mergeRules([rule(['/metrics', '/debug'], ['get']), rule(['/metrics'], ['post'])]), [
    rule(['/debug'], ['get']),
    rule(['/metrics'], ['get', 'post']),
  ])
})

t.test('rules are split by group and resource, and merged by resource names', (t) => {
  const rule = (group: string, resource: string, verbs: string[], resourceNames?: string[]): object => ({
    apiGroups: [group],
    resources: [resource],
    ...(resourceNames && { resourceNames }),
    verbs,
  })
  t.strictSame(
    mergeRules([
      { apiGroups: ['b', 'a'], resources: ['y', 'x'], verbs: ['update', 'get'] },
      { apiGroups: ['a'], resources: ['x'], resourceNames: ['2', '1'], verbs: ['get'] },
      { apiGroups: ['a'], resources: ['x'], resourceNames: ['1', '2'], verbs: ['delete'] },
      { apiGroups: ['a'], resources: ['x'], resourceNames: ['1'], verbs: ['patch'] },
      { apiGroups: ['a'], resources: ['x'], verbs: ['get', 'create'] },
    ]),
    [
      rule('a', 'x', ['create', 'get', 'update']),
      rule('a', 'x', ['patch'], ['1']),
      rule('a', 'x', ['delete', 'get'], ['1', '2']),
      rule('a', 'y', ['get', 'update']),
      rule('b', 'x', ['get', 'update']),
      rule('b', 'y', ['get', 'update']),
    ],
  )
  t.end()
})

t.test('the role for scrapers permits nothing but the metrics', (t) => {
  t.strictSame(metricsReaderRole(namesOf('mine'))['rules'], [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }], 'without empty lists')
  t.match(metricsReaderRole(namesOf('mine')), {
    kind: 'ClusterRole',
    metadata: { name: 'mine-metrics-reader', labels },
  })
  t.end()
})

t.test('with the Role for the Secret with the CA, an operator in a cluster opens its certificates', async (t) => {
  const account = 'mine-system/mine'
  const { client, connectionFor, stop } = await startControlPlane({
    controllers: false,
    namespaces: ['mine-system'],
    serviceAccounts: [{ name: account, rules: [] }],
  })
  const operator = createClient(connectionFor({ serviceAccount: account }))
  t.teardown(async () => {
    await operator.close()
    await stop()
  })
  const names = namesOf('mine')
  const open = () =>
    openSecretCertificates({
      client: operator,
      namespace: names.namespace,
      secretName: names.caSecret,
      names: ['mine'],
      ips: [],
      clock: systemClock,
      logger: silentLogger(),
    })
  await t.rejects(open(), { code: 'PRO_PERMISSION', message: /config\/rbac\/webhook_ca_role\.yaml/ })
  const [role, binding] = webhookCaRole(names)
  await client.create(rbac.role, role as never)
  await client.create(rbac.roleBinding, binding as never)
  const created = (await open()).current()
  // The store reads the Secret. If the Secret is incomplete, the store updates it.
  t.equal((await open()).current().caBundle, created.caBundle)
  await client.patch(secret, { namespace: names.namespace, name: names.caSecret }, { data: { 'ca.key': null } })
  t.not((await open()).current().caBundle, created.caBundle)
})
