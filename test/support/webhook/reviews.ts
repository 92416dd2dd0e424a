/** Generates malformed AdmissionReviews as strings. Some of the strings are invalid JSON or contain duplicate keys. */
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { isObject, setOwn } from '../../../src/api/json.ts'
import type { Dice } from '../dice.ts'
import { goodGadget, notes } from './gadget.ts'

/** A string that is inserted unchanged into the generated JSON. */
class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
type Hostile = JsonValue | Raw

const kindOfGadget = { group: 'fuzz.example.com', version: 'v1', kind: 'Gadget' }

/**
 * Returns the JSON of an AdmissionReview. A valid review of a random operation is generated first, and then changed `mutations` times at
 * random paths.
 */
export function reviewText(dice: Dice, uid: string, mutations: number): string {
  const review = goodReview(dice, uid)
  for (let left = mutations; left > 0; left -= 1) mutate(dice, review)
  return textOf(dice, review, mutations > 0 ? 0.01 : 0)
}

function goodReview(dice: Dice, uid: string): JsonObject {
  const operation = dice.pick(['CREATE', 'CREATE', 'UPDATE', 'UPDATE', 'DELETE', 'CONNECT'])
  const object = goodGadget(dice.pick(notes), 1 + dice.upTo(99))
  const old = goodGadget(dice.pick(notes), 1 + dice.upTo(99))
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid,
      kind: { ...kindOfGadget },
      resource: { group: 'fuzz.example.com', version: 'v1', resource: 'gadgets' },
      requestKind: { ...kindOfGadget },
      requestResource: { group: 'fuzz.example.com', version: 'v1', resource: 'gadgets' },
      name: 'a',
      namespace: 'ns',
      operation,
      userInfo: { username: 'jane', uid: 'u', groups: ['dev', 'system:authenticated'], extra: { scopes: ['a'] } },
      object: operation === 'DELETE' ? null : object,
      oldObject: operation === 'CREATE' || operation === 'CONNECT' ? null : old,
      dryRun: dice.chance(0.1),
      options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions' },
    },
  }
}

interface Place {
  readonly parent: JsonObject | JsonValue[]
  readonly key: string | number
}

function placesOf(value: unknown, places: Place[] = []): Place[] {
  if (Array.isArray(value)) {
    for (const [key, item] of value.entries()) {
      places.push({ parent: value, key })
      placesOf(item, places)
    }
  } else if (!(value instanceof Raw) && isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      places.push({ parent: value, key })
      placesOf(item, places)
    }
  }
  return places
}

function put({ parent, key }: Place, value: Hostile): void {
  if (Array.isArray(parent)) parent[key as number] = value as JsonValue
  else setOwn(parent, String(key), value as JsonValue)
}

function mutate(dice: Dice, review: JsonObject): void {
  const places = placesOf(review)
  if (places.length === 0) return
  // One mutation in four changes a field of the review itself or of its request. The object in the request has many more fields, so without
  // this rule such mutations would be rare.
  const envelope = places.filter(({ parent }) => parent === review || parent === review.request)
  const place = dice.chance(0.25) && envelope.length > 0 ? dice.pick(envelope) : dice.pick(places)
  const choice = dice.next()
  if (choice < 0.55) put(place, oddValue(dice))
  else if (choice < 0.7) {
    if (Array.isArray(place.parent)) place.parent.splice(place.key as number, 1)
    else delete place.parent[place.key]
  } else if (choice < 0.9) {
    if (Array.isArray(place.parent)) place.parent.push(oddValue(dice) as JsonValue)
    else setOwn(place.parent, dice.pick(oddKeys), oddValue(dice) as JsonValue)
  } else {
    const other = dice.pick(places)
    put(place, structuredValue(other))
  }
}

/**
 * Returns a copy of the value at a place of a review. `mutate` writes the copy to a random place of the same review, which may be inside
 * the original value. If `mutate` wrote the original value to this place, the value would contain itself.
 */
function structuredValue({ parent, key }: Place): JsonValue {
  return copy((Array.isArray(parent) ? parent[key as number] : parent[key]) ?? null)
}

function copy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copy)
  if (!isObject(value) || (value as unknown) instanceof Raw) return value
  const result: JsonObject = {}
  for (const [key, item] of Object.entries(value)) setOwn(result, key, copy(item ?? null))
  return result
}

const oddKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'toJSON',
  'then',
  '',
  'é',
  '\u0000',
  'a/b~c',
  'k'.repeat(500),
  'uid',
  'spec',
  'metadata',
  'deletionTimestamp',
  'subResource',
  'name',
  'finalizers',
  '0',
  '-1',
  'length',
]
const oddTexts = [
  '',
  'x',
  '__proto__',
  'x'.repeat(3000),
  '\u0000\u2028',
  'é👍',
  '../../etc',
  'DELETE',
  'status',
  '2020-13-45T99:99:99Z',
  '1e9',
]
const rawTexts = [
  '1e999',
  '-1e999',
  '123456789012345678901234567890',
  '-9223372036854775809',
  '9007199254740993',
  '-0',
  '1.0',
  '0.1e-400',
  '1E+2',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\ud800"',
  '"\\u0000"',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"a":1,"a":2}',
  'NaN',
  'undefined',
  '01',
  '[1,]',
  "'x'",
]

function oddValue(dice: Dice): Hostile {
  switch (dice.upTo(9)) {
    case 0:
      return null
    case 1:
      return dice.pick([true, false])
    case 2:
      return dice.pick([0, -1, 1.5, 1e308, -1e-308, 2 ** 53, 2 ** 31, -5, 1001])
    case 3:
      return dice.pick(oddTexts)
    case 4:
      return new Raw(dice.pick(rawTexts))
    case 5:
      return dice.pick<JsonValue>([[], {}, [[]], [null], [{}], { a: null }])
    case 6: {
      // A few values are nested so deeply that a recursive function would overflow the stack.
      const depth = dice.chance(0.02) ? 20_000 : dice.pick([5, 60, 300])
      return dice.chance(0.5) ? new Raw('['.repeat(depth) + ']'.repeat(depth)) : new Raw('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))
    }
    case 7:
      return Array.from({ length: dice.pick([3, 40, 120]) }, () => dice.pick<JsonValue>(['a', 1, null, {}, { name: 'a' }]))
    case 8: {
      const object: JsonObject = {}
      for (const key of dice.times(6, () => dice.pick(oddKeys))) setOwn(object, key, dice.pick<JsonValue>(['a', 1, null, {}, []]))
      return object
    }
    default:
      return goodGadget(dice.pick(notes), dice.upTo(2000))
  }
}

/** Returns the value as JSON. If `oddness` is greater than zero, the JSON may contain duplicate keys and stray characters. */
function textOf(dice: Dice, value: Hostile, oddness: number): string {
  const write = (one: Hostile): string => {
    if (one instanceof Raw) return one.text
    if (Array.isArray(one)) return `[${one.map(write).join(',')}]`
    if (!isObject(one)) return JSON.stringify(one)
    const pairs = Object.entries(one).map(([key, item]) => `${JSON.stringify(key)}:${write(item ?? null)}`)
    if (pairs.length > 0 && dice.chance(oddness)) {
      pairs.splice(dice.upTo(pairs.length), 0, `${JSON.stringify(dice.pick(Object.keys(one)))}:${write(oddValue(dice))}`)
    }
    return `{${pairs.join(',')}}`
  }
  const text = write(value)
  if (!dice.chance(oddness * 3)) return text
  const at = dice.upTo(text.length)
  return text.slice(0, at) + dice.pick(['', '\u0000', '{', '}', '"', ',', '\\', '\ufeff', ' ']) + text.slice(at + dice.upTo(2))
}
