/** The built-in type APIService. An APIService represents one version of an API group (k8s.io/kube-aggregator/pkg/registry/apiservice). */
import { formatTime } from '../../../api/conditions.ts'
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, quote, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { dns1035Label, longName, pathSegmentName } from '../../../api/name-syntax.ts'
import { at, listAt, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, textColumn } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'

/** Maximum of each priority. The maximum is valid, although the error message requires a priority that is less than the maximum. */
const priorities = { groupPriorityMinimum: 20_000, versionPriority: 1000 }
const statuses = ['True', 'False', 'Unknown']
const maxPort = 65_535

export const apiServices: ResourceInfo = builtinResource({
  group: 'apiregistration.k8s.io',
  kind: 'APIService',
  plural: 'apiservices',
  categories: ['api-extensions'],
  namespaced: false,
  status: true,
  metadataKeptByStatus: ['annotations', 'finalizers', 'labels', 'ownerReferences'],
  columns: [nameColumn, textColumn('Service', serviceText), textColumn('Available', availableText), ageColumn],
  strategy: {
    name: pathSegmentName,
    default: (object) =>
      changeObjectField(object, 'spec', (spec) => changeObjectField(spec, 'service', (service) => withDefaults(service, { port: 443 }))),
    prepareForCreate: (object) => ({
      ...object,
      status: isLocal(object) ? { conditions: [localCondition(textAt(object, 'metadata', 'creationTimestamp'))] } : {},
    }),
    validate: (object, _old, subresource) => (subresource === 'status' ? statusErrors(object) : specErrors(object)),
  },
})

function isLocal(object: JsonObject): boolean {
  return !isObject(at(object, 'spec', 'service'))
}

/**
 * Returns the condition of an APIService without a Service. This server itself serves the group version of such an APIService
 * (NewLocalAvailableAPIServiceCondition).
 */
function localCondition(created: string): JsonObject {
  return {
    type: 'Available',
    status: 'True',
    lastTransitionTime: created === '' ? formatTime(0) : created,
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
}

function serviceText(object: JsonObject): string {
  return isLocal(object) ? 'Local' : `${textAt(object, 'spec', 'service', 'namespace')}/${textAt(object, 'spec', 'service', 'name')}`
}

function availableText(object: JsonObject): string {
  const condition = listAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Available')
  if (condition === undefined) return 'Unknown'
  const status = textAt(condition, 'status')
  return status === 'True' ? status : `${status} (${textAt(condition, 'reason')})`
}

/** Validates an APIService (k8s.io/kube-aggregator/pkg/apis/apiregistration/validation: ValidateAPIService). */
function specErrors(object: JsonObject): FieldError[] {
  const spec = isObject(object.spec) ? object.spec : {}
  const [name, group, version] = [textAt(object, 'metadata', 'name'), textAt(spec, 'group'), textAt(spec, 'version')]
  const errors: FieldError[] = []
  const expected = `${version}.${group}`
  if (name !== '' && name !== expected && pathSegmentName(name).length === 0)
    errors.push(invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${quote(expected)}`))
  if (group === '' && version !== 'v1') errors.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'))
  if (group !== '') errors.push(...longName(group).map((problem) => invalid('spec.group', group, problem)))
  errors.push(...dns1035Label(version).map((problem) => invalid('spec.version', version, problem)))
  for (const [field, limit] of Object.entries(priorities)) {
    const value = numberAt(spec, field)
    if (value <= 0 || value > limit) errors.push(invalid(`spec.${field}`, value, `must be positive and less than ${limit}`))
  }
  return [...errors, ...(isLocal(object) ? localErrors(spec) : serviceErrors(spec))]
}

function localErrors(spec: JsonObject): FieldError[] {
  const bytes = Buffer.from(textAt(spec, 'caBundle'), 'base64').length
  return [
    ...(bytes === 0 ? [] : [invalid('spec.caBundle', `${bytes} bytes`, 'local APIServices may not have a caBundle')]),
    ...(spec.insecureSkipTLSVerify === true
      ? [invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')]
      : []),
  ]
}

function serviceErrors(spec: JsonObject): FieldError[] {
  const errors = ['namespace', 'name'].flatMap((field) =>
    textAt(spec, 'service', field) === '' ? [required(`spec.service.${field}`)] : [],
  )
  const port = numberAt(spec, 'service', 'port')
  if (port < 1 || port > maxPort)
    errors.push(invalid('spec.service.port', port, 'port is not valid: must be between 1 and 65535, inclusive'))
  if (spec.insecureSkipTLSVerify === true && textAt(spec, 'caBundle') !== '')
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'))
  return errors
}

function statusErrors(object: JsonObject): FieldError[] {
  if (sizeAt(object, 'status', 'conditions') === 0) return []
  return listAt(object, 'status', 'conditions').flatMap((condition, index) => {
    const status = textAt(condition, 'status')
    return statuses.includes(status) ? [] : [notSupported(`status.conditions[${index}].status`, status, statuses)]
  })
}
