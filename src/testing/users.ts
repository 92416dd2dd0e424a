/** Users of a control plane for tests, and the RBAC objects that grant permissions to them. */
import { namespace as namespaceType } from '../api/builtin.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { rbac } from '../api/kubernetes/rbac.ts'
import type { ObjectKey } from '../api/object.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { isAlreadyExists } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'

/** A user who exists in addition to the administrator, and the permissions of this user. */
export interface ControlPlaneUser {
  readonly name: string
  readonly groups?: readonly string[]
  /** Permissions in all namespaces and for cluster-scoped types. A ClusterRole and a ClusterRoleBinding grant them. */
  readonly rules: readonly PolicyRule[]
  /** Further permissions, keyed by the namespace in which they apply. Roles and RoleBindings grant them. */
  readonly namespaceRules?: Readonly<Record<string, readonly PolicyRule[]>>
}

/** The type and key of a created object. In an existing cluster, `stop` deletes this object. */
export interface Created {
  readonly type: ResourceType
  readonly key: ObjectKey
}

/**
 * Creates the RBAC objects that grant permissions to users. The names of these objects begin with `prefix`, so that they differ from the
 * names of other objects in an existing cluster. Each object is added to `created` immediately after its creation, so that the caller can
 * delete all created objects after a failure.
 */
export async function grant(client: Client, users: readonly ControlPlaneUser[], prefix: string, created: Created[] = []): Promise<void> {
  const grants = users.flatMap((user, index) => [
    { user, name: `${prefix}-${index}`, namespace: undefined, rules: user.rules },
    ...Object.entries(user.namespaceRules ?? {}).map(([namespace, rules]) => ({ user, name: `${prefix}-${index}`, namespace, rules })),
  ])
  for (const { user, name, namespace, rules } of grants) {
    if (rules.length === 0) continue
    const [roleType, bindingType] = namespace === undefined ? [rbac.clusterRole, rbac.clusterRoleBinding] : [rbac.role, rbac.roleBinding]
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) }
    await client.create(roleType, { metadata, rules })
    created.push({ type: roleType, key: metadata })
    await client.create(bindingType, {
      metadata,
      roleRef: { apiGroup: roleType.group, kind: roleType.kind, name },
      subjects: [{ apiGroup: roleType.group, kind: 'User', name: user.name }],
    })
    created.push({ type: bindingType, key: metadata })
  }
}

/** Creates the namespaces that do not exist, and adds the type and key of each created namespace to `created`. */
export async function createNamespaces(client: Client, names: readonly string[], created: Created[] = []): Promise<void> {
  for (const name of new Set(names)) {
    try {
      await client.create(namespaceType, { metadata: { name } })
      created.push({ type: namespaceType, key: { name } })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}
