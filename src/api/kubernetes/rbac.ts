/**
 * The built-in kinds of the group `rbac.authorization.k8s.io`. Each kind has a `ResourceType`, such as `rbac.role`, and a TypeScript type
 * of its objects, such as `rbac.Role`.
 */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export declare namespace rbac {
  type Role = NamespacedObject<models.V1Role, 'rbac.authorization.k8s.io/v1', 'Role'>
  type RoleBinding = NamespacedObject<models.V1RoleBinding, 'rbac.authorization.k8s.io/v1', 'RoleBinding'>
  type ClusterRole = ClusterObject<models.V1ClusterRole, 'rbac.authorization.k8s.io/v1', 'ClusterRole'>
  type ClusterRoleBinding = ClusterObject<models.V1ClusterRoleBinding, 'rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'>
}

export const rbac = {
  role: namespacedType<rbac.Role>('rbac.authorization.k8s.io', 'v1', 'Role', 'roles'),
  roleBinding: namespacedType<rbac.RoleBinding>('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings'),
  clusterRole: clusterType<rbac.ClusterRole>('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles'),
  clusterRoleBinding: clusterType<rbac.ClusterRoleBinding>('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', 'clusterrolebindings'),
} as const
