/** The built-in type ControllerRevision: one version of the Pod template of a StatefulSet or DaemonSet. */
import type { FieldError } from '../../../api/field-error.ts'
import { required } from '../../../api/field-error.ts'
import { parseApiVersion } from '../../../api/group-version-kind.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, textColumn } from '../columns.ts'
import { immutable, nonNegative } from './field-checks.ts'

export const controllerRevisions: ResourceInfo = builtinResource({
  group: 'apps',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  columns: [
    nameColumn,
    textColumn('Controller', controllerOf),
    { ...textColumn('Revision', () => ''), cell: (object) => numberAt(object, 'revision') },
    ageColumn,
  ],
  strategy: {
    validate: (object, old) => [
      ...nonNegative(object.revision, 'revision'),
      ...(old === undefined ? validateData(object) : immutable(object.data, old.data, 'data')),
    ],
  },
})

/** Returns the cell of the column Controller, e.g. `statefulset.apps/web`. */
function controllerOf(object: JsonObject): string {
  const controller = listAt(object, 'metadata', 'ownerReferences').find((owner) => isObject(owner) && owner.controller === true)
  if (controller === undefined) return '<none>'
  const { group } = parseApiVersion(textAt(controller, 'apiVersion'))
  const kind = textAt(controller, 'kind').toLowerCase()
  return `${group === '' ? kind : `${kind}.${group.toLowerCase()}`}/${textAt(controller, 'name')}`
}

/** Validates the data of a new ControllerRevision (k8s.io/kubernetes/pkg/apis/apps/validation: ValidateControllerRevisionCreate). */
function validateData({ data }: JsonObject): FieldError[] {
  if (data === undefined || data === null) return [required('data', 'data is mandatory')]
  return isObject(data) ? [] : [required('data', 'data must be a valid JSON object')]
}
