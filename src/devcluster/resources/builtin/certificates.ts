/** The built-in type CertificateSigningRequest (k8s.io/kubernetes/pkg/registry/certificates/certificates). */
import { formatTime } from '../../../api/conditions.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { pathSegmentName } from '../../../api/name-syntax.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, orNone, textColumn } from '../columns.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import { humanDuration } from '../human-duration.ts'
import { validateNewRequest, validateRequestUpdate } from './certificate-validation.ts'

export const certificateSigningRequests: ResourceInfo = builtinResource({
  group: 'certificates.k8s.io',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  shortNames: ['csr'],
  namespaced: false,
  status: true,
  subresources: {
    approval: {
      kind: 'CertificateSigningRequest',
      verbs: ['get', 'patch', 'update'],
      part: (written, stored) => ({
        ...written,
        ...(stored.spec !== undefined && { spec: stored.spec }),
        status: withConditions(stored.status, at(written, 'status', 'conditions')),
      }),
    },
  },
  columns: [
    nameColumn,
    ageColumn,
    textColumn('SignerName', (object) => orNone(textAt(object, 'spec', 'signerName'))),
    textColumn('Requestor', (object) => textAt(object, 'spec', 'username')),
    textColumn('RequestedDuration', (object) =>
      at(object, 'spec', 'expirationSeconds') === undefined
        ? '<none>'
        : humanDuration(numberAt(object, 'spec', 'expirationSeconds') * 1000),
    ),
    textColumn('Condition', conditionText),
  ],
  selectableFields: (object) => ({ 'spec.signerName': textAt(object, 'spec', 'signerName') }),
  strategy: {
    name: pathSegmentName,
    prepareForCreate: (object, { user }) => {
      const { username, uid, groups, extra } = user
      return {
        ...changeObjectField(object, 'spec', ({ username: _username, uid: _uid, groups: _groups, extra: _extra, ...spec }) => ({
          ...spec,
          username,
          ...(uid !== undefined && uid !== '' && { uid }),
          ...(groups.length > 0 && { groups: [...groups] }),
          ...(extra !== undefined && Object.keys(extra).length > 0 && { extra: extra as unknown as JsonObject }),
        })),
        status: {},
      }
    },
    prepareForUpdate: (object, old, subresource, now) => {
      const kept = { ...object, ...(old.spec !== undefined && { spec: old.spec }) }
      if (subresource === '') return kept
      return withTimes(subresource === 'status' ? withApprovalOf(kept, old) : kept, old, now)
    },
    validate: (object, old, subresource = '') =>
      old === undefined ? validateNewRequest(object) : validateRequestUpdate(object, old, subresource),
  },
})

function withConditions(status: JsonObject[string], conditions: JsonObject[string]): JsonObject {
  const { conditions: _before, ...rest } = isObject(status) ? status : {}
  return conditions === undefined ? rest : { conditions, ...rest }
}

/**
 * Replaces the conditions of the types Approved and Denied with the conditions of the old object (preserveConditionInstances). If the two
 * objects have different numbers of conditions of one type, the conditions of this type are not replaced. Only writes to /status call this
 * function.
 */
function withApprovalOf(object: JsonObject, old: JsonObject): JsonObject {
  return ['Approved', 'Denied'].reduce((current, type) => {
    const kept = conditionsOf(old).filter((condition) => condition.type === type)
    if (conditionsOf(current).filter((condition) => condition.type === type).length !== kept.length) return current
    return changeConditions(current, (condition) => (condition.type === type ? kept.shift()! : condition))
  }, object)
}

/** Sets the missing times of conditions (populateConditionTimestamps). */
function withTimes(object: JsonObject, old: JsonObject, now: number): JsonObject {
  const time = formatTime(now)
  return changeConditions(object, (condition) => {
    const before = conditionsOf(old).find(
      ({ type, status, lastTransitionTime }) =>
        type === condition.type && status === condition.status && typeof lastTransitionTime === 'string',
    )
    return withDefaults(condition, { lastUpdateTime: time, lastTransitionTime: before?.lastTransitionTime ?? time })
  })
}

function changeConditions(object: JsonObject, change: (condition: JsonObject) => JsonObject): JsonObject {
  return changeObjectField(object, 'status', (status) => changeItems(status, 'conditions', change))
}

function conditionsOf(object: JsonObject): JsonObject[] {
  return listAt(object, 'status', 'conditions').filter(isObject)
}

/** Returns the cell of the column Condition, e.g. `Approved,Issued` (k8s.io/kubernetes/pkg/printers/internalversion: extractCSRStatus). */
function conditionText(object: JsonObject): string {
  const has = (type: string): boolean => conditionsOf(object).some((condition) => condition.type === type)
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${textAt(object, 'status', 'certificate') === '' ? '' : ',Issued'}`
}
