/** The objects that kube-apiserver creates when it first starts: namespaces, default roles, and the Service `kubernetes`. */
import { namespace as namespaceType, service as serviceType } from '../api/builtin.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { resourceType } from '../api/group-version-kind.ts'
import type { KubernetesObject, ObjectInput, ObjectKey } from '../api/object.ts'
import { isAlreadyExists } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import type { BootstrapRole } from './bootstrap-roles.ts'
import { bootstrapRoles } from './bootstrap-roles.ts'
import { apiServerAddress } from './resources/cluster-addresses.ts'

const ownNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']
const fieldManager = 'kube-apiserver'

const rbac = 'rbac.authorization.k8s.io'
const clusterRole = resourceType<KubernetesObject & { rules?: unknown; aggregationRule?: unknown }>({
  group: rbac,
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
})
const clusterRoleBinding = resourceType<KubernetesObject & { roleRef: unknown; subjects: unknown }>({
  group: rbac,
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
})

/**
 * Creates the built-in namespaces, the additional `namespaces`, the default roles, and the Service `kubernetes` with `port` as target port.
 * Objects of an earlier run are kept. No create request is sent for an existing object, because a webhook that was registered in the
 * earlier run could reject the request and prevent the start of the cluster.
 */
export async function createOwnObjects(client: Client, namespaces: readonly string[], port: number): Promise<void> {
  const types = [namespaceType, clusterRole, clusterRoleBinding, serviceType]
  const found = new Set((await Promise.all(types.map((type) => idsOf(client, type)))).flat())
  const create: Create = async (type, object) => {
    if (!found.has(idOf(type, object.metadata)))
      await ifAbsent(client.create(type, object as ObjectInput<KubernetesObject>, { fieldManager }))
  }
  await Promise.all([...new Set([...ownNamespaces, ...namespaces])].map((name) => create(namespaceType, { metadata: { name } })))
  await Promise.all(bootstrapRoles.map((role) => createRole(create, role)))
  const metadata = { namespace: 'default', name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } }
  const ports = [{ name: 'https', port: 443, targetPort: port, protocol: 'TCP' }]
  const spec = { clusterIP: apiServerAddress, ipFamilyPolicy: 'SingleStack', ports }
  await create(serviceType, { metadata, spec })
}

type Create = (type: ResourceType, object: { readonly metadata: ObjectKey; readonly [field: string]: unknown }) => Promise<void>

async function idsOf(client: Client, type: ResourceType): Promise<string[]> {
  const { items } = await client.list(type)
  return items.map(({ metadata }) => idOf(type, metadata))
}

function idOf({ plural }: ResourceType, { namespace, name }: ObjectKey): string {
  return [plural, namespace, name].join('/')
}

async function createRole(create: Create, { name, rules, aggregates, aggregateTo, groups }: BootstrapRole): Promise<void> {
  const label = (to: string): string => `${rbac}/aggregate-to-${to}`
  const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }
  const metadata = { name, annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' }, labels }
  const role = {
    metadata: { ...metadata, labels: { ...labels, ...(aggregateTo === undefined ? {} : { [label(aggregateTo)]: 'true' }) } },
    ...(aggregates === undefined ? {} : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label(aggregates)]: 'true' } }] } }),
    rules: rules ?? null,
  }
  await create(clusterRole, role)
  if (groups === undefined) return
  const subjects = groups.map((group) => ({ apiGroup: rbac, kind: 'Group', name: group }))
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name }
  await create(clusterRoleBinding, { metadata, roleRef, subjects })
}

async function ifAbsent(creating: Promise<unknown>): Promise<void> {
  try {
    await creating
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
