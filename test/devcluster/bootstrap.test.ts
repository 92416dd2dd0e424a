import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { ObjectKey } from '../../src/api/object.ts'
import type { Client } from '../../src/client/client.ts'
import { failure } from '../../src/api/status.ts'
import { createOwnObjects } from '../../src/devcluster/bootstrap.ts'

type Created = JsonObject & { readonly metadata: JsonObject & { readonly name: string } }

/**
 * Returns the objects that the bootstrap creates, keyed by resource. `answer` is called for each create request, and returns the response
 * or throws the error. `existing` are the objects that exist before the bootstrap, keyed by resource.
 */
async function created(
  namespaces: readonly string[],
  answer: () => Promise<unknown> = () => Promise.resolve({}),
  existing: Readonly<Record<string, readonly ObjectKey[]>> = {},
): Promise<Record<string, Created[]>> {
  const found: Record<string, Created[]> = {}
  const create = (type: ResourceType, object: Created, options: unknown): Promise<unknown> => {
    if (!isDeepStrictEqual(options, { fieldManager: 'kube-apiserver' })) throw new Error(`created with ${JSON.stringify(options)}`)
    ;(found[type.plural] ??= []).push(object)
    return answer()
  }
  const list = ({ plural }: ResourceType) => Promise.resolve({ items: (existing[plural] ?? []).map((metadata) => ({ metadata })) })
  await createOwnObjects({ create, list } as unknown as Client, namespaces, 6443)
  return found
}

t.test('the bootstrap creates the default namespaces and the Service kubernetes', async (t) => {
  const { namespaces, services } = await created(['one', 'default'])
  t.strictSame(
    namespaces,
    ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'one'].map((name) => ({ metadata: { name } })),
  )
  t.strictSame(services, [
    {
      metadata: { namespace: 'default', name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        clusterIP: '10.96.0.1',
        ipFamilyPolicy: 'SingleStack',
        ports: [{ name: 'https', port: 443, targetPort: 6443, protocol: 'TCP' }],
      },
    },
  ])
})

t.test('no request is sent for objects of an earlier run', async (t) => {
  const { namespaces, clusterroles, services } = await created(['one'], undefined, {
    namespaces: [{ name: 'kube-system' }, { name: 'one' }],
    clusterroles: [{ name: 'cluster-admin' }],
    services: [{ namespace: 'default', name: 'kubernetes' }],
  })
  t.strictSame(
    namespaces!.map(({ metadata }) => metadata.name),
    ['default', 'kube-public', 'kube-node-lease'],
  )
  t.equal(clusterroles!.length, 17)
  t.equal(services, undefined)
})

t.test('existing objects are kept, and other failures are reported', async (t) => {
  const refuse = (code: number, reason: string) => (): Promise<unknown> => Promise.reject(new ApiError(failure(code, reason, 'no')))
  const { clusterroles } = await created([], refuse(409, 'AlreadyExists'))
  t.equal(clusterroles!.length, 18)
  await t.rejects(created([], refuse(403, 'Forbidden')))
})

/**
 * The permissions of the bootstrap ClusterRoles that have rules, keyed by the name of the ClusterRole, then by verbs. Each value lists the
 * resources or the URL paths on which the ClusterRole allows the verbs.
 */
const allowed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'cluster-admin': {
    '*': '* *:*',
  },
  'system:aggregate-to-admin': {
    create: 'authorization.k8s.io:localsubjectaccessreviews',
    'create delete deletecollection get list patch update watch': 'rbac.authorization.k8s.io:rolebindings rbac.authorization.k8s.io:roles',
  },
  'system:aggregate-to-edit': {
    'get list watch': 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy',
    impersonate: 'serviceaccounts',
    'create delete deletecollection patch update':
      'apps:daemonsets apps:deployments apps:deployments/scale apps:replicasets apps:replicasets/scale apps:statefulsets apps:statefulsets/scale autoscaling:horizontalpodautoscalers batch:cronjobs batch:jobs configmaps events events.k8s.io:events networking.k8s.io:ingresses networking.k8s.io:networkpolicies persistentvolumeclaims pods pods/attach pods/exec pods/portforward pods/proxy policy:poddisruptionbudgets replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
    create: 'pods/eviction serviceaccounts/token',
    'create delete deletecollection get list patch update watch': 'coordination.k8s.io:leases',
  },
  'system:aggregate-to-view': {
    'get list watch':
      'apps:controllerrevisions apps:daemonsets apps:daemonsets/status apps:deployments apps:deployments/scale apps:deployments/status apps:replicasets apps:replicasets/scale apps:replicasets/status apps:statefulsets apps:statefulsets/scale apps:statefulsets/status autoscaling:horizontalpodautoscalers autoscaling:horizontalpodautoscalers/status batch:cronjobs batch:cronjobs/status batch:jobs batch:jobs/status configmaps discovery.k8s.io:endpointslices endpoints events events.k8s.io:events limitranges namespaces namespaces/status networking.k8s.io:ingresses networking.k8s.io:ingresses/status networking.k8s.io:networkpolicies persistentvolumeclaims persistentvolumeclaims/status pods pods/log pods/status policy:poddisruptionbudgets policy:poddisruptionbudgets/status replicationcontrollers replicationcontrollers/scale replicationcontrollers/status resourcequotas resourcequotas/status serviceaccounts services services/status',
  },
  'system:auth-delegator': {
    create: 'authentication.k8s.io:tokenreviews authorization.k8s.io:subjectaccessreviews',
  },
  'system:basic-user': {
    create:
      'authentication.k8s.io:selfsubjectreviews authorization.k8s.io:selfsubjectaccessreviews authorization.k8s.io:selfsubjectrulesreviews',
  },
  'system:certificates.k8s.io:certificatesigningrequests:nodeclient': {
    create: 'certificates.k8s.io:certificatesigningrequests/nodeclient',
  },
  'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient': {
    create: 'certificates.k8s.io:certificatesigningrequests/selfnodeclient',
  },
  ...Object.fromEntries(
    ['kube-apiserver-client', 'kube-apiserver-client-kubelet', 'kubelet-serving', 'legacy-unknown'].map((signer) => [
      `system:certificates.k8s.io:${signer}-approver`,
      { approve: 'certificates.k8s.io:signers' },
    ]),
  ),
  'system:discovery': {
    get: '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/',
  },
  'system:monitoring': {
    get: '/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz nodes/metrics',
  },
  'system:public-info-viewer': {
    get: '/healthz /livez /readyz /version /version/',
  },
}

t.test('the bootstrap roles allow their verbs on the served resources', async (t) => {
  const { clusterroles } = await created([])
  const found: Record<string, Record<string, string>> = {}
  for (const { metadata, rules } of clusterroles as unknown as {
    metadata: { name: string }
    rules: null | { verbs: string[]; apiGroups?: string[]; resources?: string[]; nonResourceURLs?: string[] }[]
  }[]) {
    if (rules === null) continue
    const byVerbs: Record<string, string[]> = {}
    for (const { verbs, apiGroups = [], resources = [], nonResourceURLs } of rules) {
      const what =
        nonResourceURLs ?? apiGroups.flatMap((group) => resources.map((resource) => (group === '' ? resource : `${group}:${resource}`)))
      ;(byVerbs[verbs.toSorted().join(' ')] ??= []).push(...what)
    }
    found[metadata.name] = Object.fromEntries(Object.entries(byVerbs).map(([verbs, what]) => [verbs, what.sort().join(' ')]))
  }
  t.strictSame(found, allowed)
})

t.test('roles have the labels of bootstrap roles, and some are aggregated', async (t) => {
  const { clusterroles } = await created([])
  const own = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }
  const to = (name: string): JsonObject => ({ ...own, [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' })
  t.strictSame(Object.fromEntries(clusterroles!.map(({ metadata }) => [metadata.name, metadata.labels])), {
    'cluster-admin': own,
    admin: own,
    edit: to('admin'),
    view: to('edit'),
    'system:aggregate-to-admin': to('admin'),
    'system:aggregate-to-edit': to('edit'),
    'system:aggregate-to-view': to('view'),
    'system:auth-delegator': own,
    'system:basic-user': own,
    ...Object.fromEntries(
      [
        ...['certificatesigningrequests:nodeclient', 'certificatesigningrequests:selfnodeclient', 'kube-apiserver-client-approver'],
        ...['kube-apiserver-client-kubelet-approver', 'kubelet-serving-approver', 'legacy-unknown-approver'],
      ].map((name) => [`system:certificates.k8s.io:${name}`, own]),
    ),
    'system:discovery': own,
    'system:monitoring': own,
    'system:public-info-viewer': own,
  })
  for (const { metadata } of clusterroles!) t.strictSame(metadata.annotations, { 'rbac.authorization.kubernetes.io/autoupdate': 'true' })
  for (const name of ['admin', 'edit', 'view']) {
    const role = clusterroles!.find(({ metadata }) => metadata.name === name)!
    t.strictSame(
      [role.rules, role.aggregationRule],
      [null, { clusterRoleSelectors: [{ matchLabels: { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' } }] }],
    )
  }
  t.equal(clusterroles!.filter(({ aggregationRule }) => aggregationRule !== undefined).length, 3)
})

t.test('bootstrap bindings grant the roles to groups', async (t) => {
  const { clusterrolebindings } = await created([])
  const group = (name: string): JsonObject => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name })
  const roleRef = (name: string): JsonObject => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name })
  t.strictSame(
    clusterrolebindings!.map(({ metadata, roleRef: role, subjects }) => [metadata.name, role, subjects]),
    [
      ['cluster-admin', roleRef('cluster-admin'), [group('system:masters')]],
      ['system:basic-user', roleRef('system:basic-user'), [group('system:authenticated')]],
      ['system:discovery', roleRef('system:discovery'), [group('system:authenticated')]],
      ['system:monitoring', roleRef('system:monitoring'), [group('system:monitoring')]],
      ['system:public-info-viewer', roleRef('system:public-info-viewer'), [group('system:authenticated'), group('system:unauthenticated')]],
    ],
  )
  t.strictSame(clusterrolebindings![0]!.metadata.labels, { 'kubernetes.io/bootstrapping': 'rbac-defaults' })
})
