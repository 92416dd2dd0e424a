/**
 * The default ClusterRoles (k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy): user-facing roles, and basic permissions of
 * all users.
 */
import type { PolicyRule } from '../api/policy-rule.ts'

/** `ResourceRule` grants verbs on resources; `PathRule` grants verbs on non-resource URLs. */
type ResourceRule = Pick<PolicyRule, 'verbs' | 'apiGroups' | 'resources' | 'resourceNames'>
type PathRule = Required<Pick<PolicyRule, 'verbs' | 'nonResourceURLs'>>

/**
 * A default ClusterRole. If `aggregates` is `NAME`, the ClusterRole aggregates all ClusterRoles with the label
 * `rbac.authorization.k8s.io/aggregate-to-NAME`.
 */
export interface BootstrapRole {
  readonly name: string
  readonly rules?: readonly (ResourceRule | PathRule)[]
  readonly aggregates?: string
  /**
   * The `NAME` in the label `rbac.authorization.k8s.io/aggregate-to-NAME` of this ClusterRole; undefined when the ClusterRole has no such
   * label.
   */
  readonly aggregateTo?: string
  /**
   * The groups that are the subjects of a ClusterRoleBinding with the same name as the ClusterRole; undefined when there is no such
   * ClusterRoleBinding.
   */
  readonly groups?: readonly string[]
}

const readVerbs = ['get', 'list', 'watch']
const writeVerbs = ['create', 'delete', 'deletecollection', 'patch', 'update']
const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

const rule = (apiGroup: string | readonly string[], resources: readonly string[], verbs: readonly string[]): ResourceRule => ({
  verbs: [...verbs],
  apiGroups: typeof apiGroup === 'string' ? [apiGroup] : [...apiGroup],
  resources: [...resources],
})
const paths = (...nonResourceURLs: string[]): PathRule => ({ verbs: ['get'], nonResourceURLs })

const withStatus = (resources: readonly string[]): string[] => resources.flatMap((name) => [name, `${name}/status`])

const replicationControllers = ['replicationcontrollers', 'replicationcontrollers/scale']

const certificates = 'certificates.k8s.io'
const signers = ['kube-apiserver-client', 'kube-apiserver-client-kubelet', 'kubelet-serving', 'legacy-unknown']

export const bootstrapRoles: readonly BootstrapRole[] = [
  {
    name: 'cluster-admin',
    rules: [rule('*', ['*'], ['*']), { ...paths('*'), verbs: ['*'] }],
    groups: ['system:masters'],
  },
  { name: 'admin', aggregates: 'admin' },
  { name: 'edit', aggregates: 'edit', aggregateTo: 'admin' },
  { name: 'view', aggregates: 'view', aggregateTo: 'edit' },
  {
    name: 'system:aggregate-to-admin',
    aggregateTo: 'admin',
    rules: [
      rule('authorization.k8s.io', ['localsubjectaccessreviews'], ['create']),
      rule('rbac.authorization.k8s.io', ['rolebindings', 'roles'], allVerbs),
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    aggregateTo: 'edit',
    rules: [
      rule('', ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'], readVerbs),
      rule('', ['serviceaccounts'], ['impersonate']),
      rule('', ['pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'], writeVerbs),
      rule('', ['pods/eviction'], ['create']),
      rule(
        '',
        ['configmaps', 'persistentvolumeclaims', ...replicationControllers, 'secrets', 'serviceaccounts', 'services', 'services/proxy'],
        writeVerbs,
      ),
      rule('', ['serviceaccounts/token'], ['create']),
      rule(['', 'events.k8s.io'], ['events'], writeVerbs),
      rule(
        'apps',
        ['daemonsets', 'deployments', 'deployments/scale', 'replicasets', 'replicasets/scale', 'statefulsets', 'statefulsets/scale'],
        writeVerbs,
      ),
      rule('autoscaling', ['horizontalpodautoscalers'], writeVerbs),
      rule('batch', ['cronjobs', 'jobs'], writeVerbs),
      rule('policy', ['poddisruptionbudgets'], writeVerbs),
      rule('networking.k8s.io', ['ingresses', 'networkpolicies'], writeVerbs),
      rule('coordination.k8s.io', ['leases'], allVerbs),
    ],
  },
  {
    name: 'system:aggregate-to-view',
    aggregateTo: 'view',
    rules: [
      rule(
        '',
        [
          'configmaps',
          'endpoints',
          ...withStatus(['persistentvolumeclaims']),
          'pods',
          ...replicationControllers,
          'serviceaccounts',
          ...withStatus(['services']),
        ],
        readVerbs,
      ),
      rule(
        '',
        ['limitranges', 'namespaces/status', 'pods/log', 'pods/status', 'replicationcontrollers/status', ...withStatus(['resourcequotas'])],
        readVerbs,
      ),
      rule('', ['namespaces'], readVerbs),
      rule(['', 'events.k8s.io'], ['events'], readVerbs),
      rule('discovery.k8s.io', ['endpointslices'], readVerbs),
      rule(
        'apps',
        [
          'controllerrevisions',
          ...withStatus(['daemonsets']),
          ...['deployments', 'replicasets', 'statefulsets'].flatMap((name) => [name, `${name}/scale`, `${name}/status`]),
        ],
        readVerbs,
      ),
      rule('autoscaling', withStatus(['horizontalpodautoscalers']), readVerbs),
      rule('batch', withStatus(['cronjobs', 'jobs']), readVerbs),
      rule('policy', withStatus(['poddisruptionbudgets']), readVerbs),
      rule('networking.k8s.io', [...withStatus(['ingresses']), 'networkpolicies'], readVerbs),
    ],
  },
  {
    name: 'system:auth-delegator',
    rules: [
      rule('authentication.k8s.io', ['tokenreviews'], ['create']),
      rule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
    ],
  },
  {
    name: 'system:basic-user',
    rules: [
      rule('authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], ['create']),
      rule('authentication.k8s.io', ['selfsubjectreviews'], ['create']),
    ],
    groups: ['system:authenticated'],
  },
  ...['nodeclient', 'selfnodeclient'].map((kind): BootstrapRole => {
    const resource = `certificatesigningrequests/${kind}`
    return { name: `system:${certificates}:certificatesigningrequests:${kind}`, rules: [rule(certificates, [resource], ['create'])] }
  }),
  ...signers.map((signer): BootstrapRole => ({
    name: `system:${certificates}:${signer}-approver`,
    rules: [{ ...rule(certificates, ['signers'], ['approve']), resourceNames: [`kubernetes.io/${signer}`] }],
  })),
  {
    name: 'system:discovery',
    rules: [
      paths('/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez', '/openapi', '/openapi/*', '/readyz', '/version', '/version/'),
    ],
    groups: ['system:authenticated'],
  },
  {
    name: 'system:monitoring',
    rules: [
      paths(...['/flagz', '/healthz', '/healthz/*', '/livez', '/livez/*', '/metrics', '/metrics/slis', '/readyz', '/readyz/*', '/statusz']),
      rule('', ['nodes/metrics'], ['get']),
    ],
    groups: ['system:monitoring'],
  },
  {
    name: 'system:public-info-viewer',
    rules: [paths('/healthz', '/livez', '/readyz', '/version', '/version/')],
    groups: ['system:authenticated', 'system:unauthenticated'],
  },
]
