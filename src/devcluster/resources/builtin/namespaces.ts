/** The built-in type Namespace. The finalizers in `spec.finalizers` block deletion until all objects in the namespace are deleted. */
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { shortName } from '../../../api/name-syntax.ts'
import { unqualifiedFinalizers } from '../../../api/object-meta.ts'
import { failure } from '../../../api/status.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, textColumn } from '../columns.ts'
import { listAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'

/** Namespaces that cannot be deleted (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle). */
const immortal = new Set(['default', 'kube-system', 'kube-public'])

export const namespaces: ResourceInfo = builtinResource({
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  status: true,
  subresources: {
    finalize: {
      kind: 'Namespace',
      verbs: ['update'],
      // A PUT to `namespaces/finalize` replaces `spec.finalizers`, and changes metadata like an ordinary update.
      write: (namespace, written) =>
        labelled({ ...withFinalizers(namespace, listAt(written, 'spec', 'finalizers')), metadata: written.metadata ?? {} }),
    },
  },
  columns: [nameColumn, textColumn('Status', (namespace) => textAt(namespace, 'status', 'phase')), ageColumn],
  selectableFields: (namespace) => ({ 'status.phase': textAt(namespace, 'status', 'phase') }),
  strategy: {
    name: shortName,
    returnsDeleted: true,
    default: labelled,
    prepareForCreate: (namespace) => {
      const given = listAt(namespace, 'spec', 'finalizers')
      const finalizers = given.includes('kubernetes') ? given : [...given, 'kubernetes']
      return { ...labelled(withFinalizers(namespace, finalizers)), status: { phase: 'Active' } }
    },
    validate: (namespace) => unqualifiedFinalizers(listAt(namespace, 'spec', 'finalizers'), () => 'spec.finalizers'),
    prepareForUpdate: (namespace, old, subresource) =>
      subresource === '' ? withFinalizers(namespace, listAt(old, 'spec', 'finalizers')) : namespace,
    heldBy: (namespace) => listAt(namespace, 'spec', 'finalizers').filter((finalizer) => typeof finalizer === 'string'),
    canDelete: (namespace) => {
      const name = textAt(namespace, 'metadata', 'name')
      if (!immortal.has(name)) return undefined
      return failure(403, 'Forbidden', `namespaces "${name}" is forbidden: this namespace may not be deleted`, { name, kind: 'namespaces' })
    },
    beginDelete: (namespace) => {
      const marked = changeObjectField(namespace, 'metadata', ({ deletionGracePeriodSeconds: _grace, ...metadata }) => metadata)
      return { ...marked, status: { ...(isObject(namespace.status) ? namespace.status : {}), phase: 'Terminating' } }
    },
  },
})

/** Adds the label `kubernetes.io/metadata.name`, which every namespace has. */
function labelled(namespace: JsonObject): JsonObject {
  const name = textAt(namespace, 'metadata', 'name')
  if (name === '' || textAt(namespace, 'metadata', 'labels', 'kubernetes.io/metadata.name') === name) return namespace
  return changeObjectField(namespace, 'metadata', (metadata) =>
    changeObjectField(withDefaults(metadata, { labels: {} }), 'labels', (labels) => ({ ...labels, 'kubernetes.io/metadata.name': name })),
  )
}

function withFinalizers(namespace: JsonObject, finalizers: readonly JsonValue[]): JsonObject {
  const { finalizers: _finalizers, ...spec } = isObject(namespace.spec) ? namespace.spec : {}
  return { ...namespace, spec: finalizers.length === 0 ? spec : { ...spec, finalizers: [...finalizers] } }
}
