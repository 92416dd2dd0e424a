/** Validation of events (k8s.io/kubernetes/pkg/apis/core/validation: events.go). */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { qualifiedName } from '../../../api/name-syntax.ts'
import { numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { immutable } from './field-checks.ts'

/** Fields that are required in an event with `eventTime`, and their maximum lengths. */
const maxLengths = [
  ['reportingInstance', 128],
  ['action', 128],
  ['reason', 128],
] as const
const maxMessageLength = 1024

export function validateEvent(event: JsonObject): FieldError[] {
  return validateAny(event, 'reportingComponent')
}

/** Validates an event of the core group or of `events.k8s.io`. More fields are required if `eventTime` is set. */
function validateAny(event: JsonObject, controllerField: string): FieldError[] {
  const [own, involved] = [textAt(event, 'metadata', 'namespace'), textAt(event, 'involvedObject', 'namespace')]
  const elsewhere = invalid('involvedObject.namespace', involved, 'does not match event.namespace')
  if (textAt(event, 'eventTime') === '') return involved === own || (involved === '' && own === 'default') ? [] : [elsewhere]
  const controller = textAt(event, 'reportingComponent')
  return [
    ...(involved === '' && own !== 'default' && own !== 'kube-system' ? [elsewhere] : []),
    ...(controller === '' ? [required(controllerField)] : []),
    ...qualifiedName(controller).map((detail) => invalid(controllerField, controller, detail)),
    ...maxLengths.flatMap(([field, max]) => {
      const text = textAt(event, field)
      if (text === '') return [required(field)]
      return text.length > max ? [invalid(field, '', `can have at most ${max} characters`)] : []
    }),
    ...(textAt(event, 'message').length > maxMessageLength
      ? [invalid('message', '', `can have at most ${maxMessageLength} characters`)]
      : []),
  ]
}

const fixed = ['involvedObject', 'reason', 'message', 'source', 'firstTimestamp', 'lastTimestamp', 'count', 'type', 'eventTime', 'action']
const alsoFixed = ['related', 'reportingComponent', 'reportingInstance']

/** Validates an event of `events.k8s.io`. `event` and `old` are already converted to core events. */
export function validateNewEvent(event: JsonObject, old: JsonObject | undefined): FieldError[] {
  const errors = validateAny(event, 'reportingController')
  if (old !== undefined) {
    const names = [...fixed, ...alsoFixed]
    for (const field of names)
      errors.push(...immutable(event[field], old[field], field === 'reportingComponent' ? 'reportingController' : field))
    return jsonEqual(event.series ?? null, old.series ?? null) ? errors : [...errors, ...validateSeries(event)]
  }
  errors.push(...validateSeries(event))
  if (textAt(event, 'eventTime') === '') errors.push(required('eventTime'))
  const type = textAt(event, 'type')
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalid('type', '', `has invalid value: ${type}`))
  const set = [
    ['firstTimestamp', textAt(event, 'firstTimestamp') !== ''],
    ['lastTimestamp', textAt(event, 'lastTimestamp') !== ''],
    ['count', numberAt(event, 'count') !== 0],
    ['source', textAt(event, 'source', 'component') !== '' || textAt(event, 'source', 'host') !== ''],
  ] as const
  return [...errors, ...set.flatMap(([field, isSet]) => (isSet ? [invalid(field, '', 'needs to be unset')] : []))]
}

function validateSeries({ series }: JsonObject): FieldError[] {
  if (!isObject(series)) return []
  return [
    ...(numberAt(series, 'count') < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(textAt(series, 'lastObservedTime') === '' ? [required('series.lastObservedTime')] : []),
  ]
}
