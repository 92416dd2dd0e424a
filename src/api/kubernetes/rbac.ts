/** Kubernetes' own types of `rbac.authorization.k8s.io`: `rbac.role`, `rbac.Role`. */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export type Role = NamespacedObject<models.V1Role, 'rbac.authorization.k8s.io/v1', 'Role'>
export const role = namespacedType<Role>('rbac.authorization.k8s.io', 'v1', 'Role', 'roles')

export type RoleBinding = NamespacedObject<models.V1RoleBinding, 'rbac.authorization.k8s.io/v1', 'RoleBinding'>
export const roleBinding = namespacedType<RoleBinding>('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings')

export type ClusterRole = ClusterObject<models.V1ClusterRole, 'rbac.authorization.k8s.io/v1', 'ClusterRole'>
export const clusterRole = clusterType<ClusterRole>('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles')

export type ClusterRoleBinding = ClusterObject<models.V1ClusterRoleBinding, 'rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'>
export const clusterRoleBinding = clusterType<ClusterRoleBinding>(
  'rbac.authorization.k8s.io',
  'v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
)
