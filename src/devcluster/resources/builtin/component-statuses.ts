/**
 * The built-in type ComponentStatus: the health of etcd, the scheduler and the controller manager. All three are parts of this process, so
 * they are always healthy.
 */
import { isObject } from '../../../api/json.ts'
import type { JsonObject } from '../../../api/json.ts'
import { listAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { builtinResource } from '../builtin-resource.ts'
import { nameColumn, textColumn } from '../columns.ts'

const healthy = { type: 'Healthy', status: 'True', message: 'ok' }

export const componentStatuses: ResourceInfo = {
  ...builtinResource({
    kind: 'ComponentStatus',
    plural: 'componentstatuses',
    shortNames: ['cs'],
    namespaced: false,
    verbs: ['get', 'list'],
    columns: [
      nameColumn,
      textColumn('Status', (object) => {
        const status = textAt(healthOf(object), 'status')
        return status === 'True' ? 'Healthy' : status === '' ? 'Unknown' : 'Unhealthy'
      }),
      textColumn('Message', (object) => textAt(healthOf(object), 'message')),
      textColumn('Error', (object) => textAt(healthOf(object), 'error')),
    ],
    deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+',
  }),
  computed: ['scheduler', 'controller-manager', 'etcd-0'].map((name) => ({
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [healthy],
  })),
}

function healthOf(object: JsonObject): JsonObject {
  return (
    listAt(object, 'conditions')
      .filter(isObject)
      .find(({ type }) => type === 'Healthy') ?? {}
  )
}
