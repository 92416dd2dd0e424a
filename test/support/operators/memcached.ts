/** Memcacheds with their ReplicaSets and Pods, as the API server stores them. */
import { controllerReference } from '../../../src/api/owner-reference.ts'
import type { apps } from '../../../src/api/kubernetes/apps.ts'
import type { core } from '../../../src/api/kubernetes/core.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { Memcached } from '../../../src/operators/memcached/kind.ts'

export function aMemcached(spec: Partial<Memcached['spec']> = {}, metadata: Partial<Memcached['metadata']> = {}): Memcached {
  return {
    apiVersion: 'cache.example.com/v1alpha1',
    kind: 'Memcached',
    metadata: { namespace: 'test', name: 'a', uid: 'u', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { size: 2, containerPort: 11_211, ...spec },
  } as Memcached
}

export const labels = { app: 'memcached', memcached_cr: 'a' }

type Owner = Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>

export function aReplicaSet(owner: Owner, name: string): apps.ReplicaSet {
  return ownedBy(owner, { apiVersion: 'apps/v1', kind: 'ReplicaSet' }, name)
}
export function aPod(owner: Owner, name: string, metadata: object = {}, status: object = {}): core.Pod {
  const pod = ownedBy<core.Pod>(owner, { apiVersion: 'v1', kind: 'Pod' }, name)
  return { ...pod, metadata: { ...pod.metadata, ...metadata }, status }
}

function ownedBy<T>(owner: Owner, type: { readonly apiVersion: string; readonly kind: string }, name: string): T {
  const ownerReferences = [controllerReference(owner)]
  return { ...type, metadata: { namespace: 'test', name, uid: `uid-${name}`, labels, ownerReferences } } as T
}
