/** The finalizers of claims and volumes (k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection). */
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { listAt } from '../apimachinery/unstructured.ts'

/** The finalizer that prevents the removal of a PersistentVolumeClaim while a Pod uses the claim. */
export const claimProtection = 'kubernetes.io/pvc-protection'
/** The finalizer that prevents the removal of a PersistentVolume while the volume is bound. */
export const volumeProtection = 'kubernetes.io/pv-protection'

/** Returns the object with the finalizer. */
export function withProtection(object: JsonObject, finalizer: string): JsonObject {
  const finalizers = listAt(object, 'metadata', 'finalizers')
  if (finalizers.includes(finalizer)) return object
  return { ...object, metadata: { ...(isObject(object.metadata) ? object.metadata : {}), finalizers: [...finalizers, finalizer] } }
}
