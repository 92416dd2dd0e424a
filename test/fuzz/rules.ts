/** Generators of schemas with valid and invalid `x-kubernetes-validations`. */
import type { JsonValue } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import type { StructuralSchema, ValidationRule } from '../../src/api/structural-schema.ts'
import type { DeclaredType } from '../../src/cel/types/declared-type.ts'
import { declareType } from '../../src/cel/types/declared-type.ts'
import { optionalType, stringType } from '../../src/cel/types/types.ts'
import { checkStructural } from '../../src/schema/structural/check-schema.ts'
import { Dice } from '../support/dice.ts'
import type { Known } from './expressions.ts'
import { ExpressionWriter, pathsOf } from './expressions.ts'

/** A subschema that can have rules. */
interface Site {
  readonly schema: StructuralSchema
  /** The type of `self` in the rules; undefined for untyped data, for which the API server allows no rules. */
  readonly declared: DeclaredType | undefined
  /** False for a subschema inside a list whose list type is not `map`. The API server allows no transition rules for such a subschema. */
  readonly correlatable: boolean
  put(rules: readonly ValidationRule[]): StructuralSchema
}

/** Returns the schema with up to three additional rules, all of which are valid. */
export function withSoundRules(schema: StructuralSchema, seed: number): StructuralSchema {
  const dice = new Dice(seed)
  let best = dice.chance(0.9) ? bounded(schema) : schema
  if (checkStructural(best).length > 0) return schema
  const wanted = 1 + dice.upTo(2)
  for (let tries = 0, found = 0; tries < 4 * wanted && found < wanted; tries += 1) {
    const site = dice.pick(sitesOf(best))
    const next = site.put([...(site.schema['x-kubernetes-validations'] ?? []), ruleFor(dice, site, 0)])
    if (checkStructural(next).length > 0) continue
    best = next
    found += 1
  }
  return best
}

/** Returns the schema with additional rules, some of which are invalid or exceed the cost limit. */
export function withAnyRules(schema: StructuralSchema, seed: number): StructuralSchema {
  const dice = new Dice(seed)
  let result = dice.chance(0.6) ? bounded(schema) : schema
  for (let left = dice.upTo(2); left >= 0; left -= 1) {
    const site = dice.pick(sitesOf(result))
    const rule = ruleFor(dice, site, dice.pick([0, 0.05, 0.2]))
    result = site.put([...(site.schema['x-kubernetes-validations'] ?? []), dice.chance(0.2) ? withFault(dice, rule) : rule])
  }
  return result
}

function ruleFor(dice: Dice, { schema, declared, correlatable }: Site, wrongness: number): ValidationRule {
  if (declared === undefined) return { rule: 'true' }
  const writer = new ExpressionWriter(dice, wrongness)
  const self: Known = { text: 'self', type: declared.type }
  const transition = (correlatable || wrongness > 0) && dice.chance(0.35)
  const optional = transition && dice.chance(0.4)
  const oldSelf: Known = { text: 'oldSelf', type: optional ? optionalType(declared.type) : declared.type }
  const scope = transition ? [self, oldSelf] : [self]
  const written = writer.writeCondition(1 + dice.upTo(2), scope)
  const rule = transition && !written.includes('oldSelf') ? `${written} || ${unchanged(declared, optional)}` : written
  return {
    rule: wrongness > 0 && dice.chance(0.05) ? misspelled(dice, rule) : rule,
    ...(dice.chance(0.3) ? { message: dice.pick(['too bad', ' spaced ', 'é "quoted" <&>']) } : {}),
    ...(dice.chance(0.3) ? { messageExpression: messageFor(dice, writer, scope) } : {}),
    ...(dice.chance(0.3)
      ? { reason: dice.pick(['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'] as const) }
      : {}),
    ...(dice.chance(0.3) ? fieldPathFor(dice, schema) : {}),
    ...(optional || (wrongness > 0 && dice.chance(0.05)) ? { optionalOldSelf: optional } : {}),
  } as ValidationRule
}

/**
 * Returns a condition that is true when the value is unchanged. For a whole object, the condition compares only the kind, because the
 * metadata changes with every write.
 */
function unchanged({ type }: DeclaredType, optional: boolean): string {
  if (type.name === 'selfType1') return `oldSelf.${optional ? '?' : ''}kind == ${optional ? 'optional.of(self.kind)' : 'self.kind'}`
  return `oldSelf == ${optional ? 'optional.of(self)' : 'self'}`
}

function messageFor(dice: Dice, writer: ExpressionWriter, scope: readonly Known[]): string {
  const texts = pathsOf(scope, dice).filter(({ type }) => type.kind === 'string')
  const written = writer.write(stringType, 1 + dice.upTo(1), scope)
  return texts.length > 0 && dice.chance(0.3) ? `'was ' + ${dice.pick(texts).text}` : written
}

function fieldPathFor(dice: Dice, { properties = {}, additionalProperties }: StructuralSchema): { fieldPath?: string } {
  const names = Object.keys(properties)
  if (names.length === 0) return isObject(additionalProperties as JsonValue) ? { fieldPath: "['a']" } : {}
  const name = dice.pick(names)
  const step = /^[a-z]+$/i.test(name) && dice.chance(0.7) ? `.${name}` : `['${name}']`
  const below = dice.chance(0.3) ? (fieldPathFor(dice, properties[name]!).fieldPath ?? '') : ''
  return { fieldPath: `${step}${below}` }
}

const faults: readonly Record<string, unknown>[] = [
  { rule: '' },
  { rule: ' ' },
  { rule: 'self' },
  { rule: '1' },
  { rule: 'self ==\n self' },
  { rule: 'self ==\n self', message: 'x' },
  { message: ' ' },
  { message: 'a\nb' },
  { messageExpression: ' ' },
  { messageExpression: '1' },
  { messageExpression: "'x" },
  { messageExpression: 'self.missing' },
  { messageExpression: 'oldSelf' },
  { reason: 'FieldValueOther' },
  { reason: '' },
  { reason: 'FieldValueTooLong' },
  { fieldPath: ' ' },
  { fieldPath: '.missing' },
  { fieldPath: 'a' },
  { fieldPath: '.a.' },
  { fieldPath: '..a' },
  { fieldPath: '[0]' },
  { fieldPath: "['a'" },
  { fieldPath: "['a\\'b']" },
  { fieldPath: '.a\n' },
  { fieldPath: '' },
  { optionalOldSelf: true },
  { optionalOldSelf: false },
  { rule: 'oldSelf == self' },
  { rule: 'self == self // a comment' },
  { rule: 'true' },
  { rule: 'false' },
]

function withFault(dice: Dice, rule: ValidationRule): ValidationRule {
  return { ...rule, ...dice.pick(faults) } as ValidationRule
}

/** Returns the string with one character inserted, removed or replaced. */
function misspelled(dice: Dice, text: string): string {
  const characters = [...text]
  const at = dice.upTo(characters.length)
  const other = dice.pick([
    '',
    '',
    '.',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '&',
    '|',
    '?',
    ':',
    ',',
    '$',
    'é',
    '\n',
    '0',
    'a',
    '-',
    '!',
    '#',
  ])
  characters.splice(at, dice.upTo(1), other)
  return characters.join('')
}

/** Returns the schema with size limits (maxLength, maxItems, maxProperties). Without limits, most rules exceed the cost limit. */
function bounded(schema: StructuralSchema): StructuralSchema {
  const { type, properties, items, additionalProperties } = schema
  const most =
    type === 'string' && schema.maxLength === undefined
      ? { maxLength: 300 }
      : type === 'array' && schema.maxItems === undefined
        ? { maxItems: 4 }
        : type === 'object' && isObject(additionalProperties as JsonValue) && schema.maxProperties === undefined
          ? { maxProperties: 4 }
          : {}
  return {
    ...schema,
    ...most,
    ...(properties && { properties: mapFields(properties, (child, key) => (key === 'metadata' ? child : bounded(child))) }),
    ...(items && { items: bounded(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: bounded(additionalProperties) }),
  }
}

function mapFields(
  properties: Readonly<Record<string, StructuralSchema>>,
  change: (schema: StructuralSchema, key: string) => StructuralSchema,
): Record<string, StructuralSchema> {
  const result: Record<string, StructuralSchema> = {}
  for (const [key, child] of Object.entries(properties)) {
    Object.defineProperty(result, key, { value: change(child, key), enumerable: true, configurable: true, writable: true })
  }
  return result
}

function sitesOf(root: StructuralSchema): Site[] {
  const sites: Site[] = []
  const visit = (
    schema: StructuralSchema,
    put: (changed: StructuralSchema) => StructuralSchema,
    correlatable: boolean,
    isRoot: boolean,
  ): void => {
    const declared = declareType(schema, isRoot ? 'selfType1' : 'selfType1.x', isRoot || schema['x-kubernetes-embedded-resource'] === true)
    sites.push({ schema, declared, correlatable, put: (rules) => put({ ...schema, 'x-kubernetes-validations': [...rules] }) })
    const { properties, items, additionalProperties } = schema
    for (const [key, child] of Object.entries(properties ?? {})) {
      // The API server does not allow rules for the metadata of the root.
      if (isRoot && key === 'metadata') continue
      const change = (changed: StructuralSchema): StructuralSchema =>
        put({ ...schema, properties: mapFields(properties!, (one, name) => (name === key ? changed : one)) })
      visit(child, change, correlatable, false)
    }
    if (items !== undefined) {
      visit(items, (changed) => put({ ...schema, items: changed }), correlatable && schema['x-kubernetes-list-type'] === 'map', false)
    }
    if (typeof additionalProperties === 'object') {
      visit(additionalProperties, (changed) => put({ ...schema, additionalProperties: changed }), correlatable, false)
    }
  }
  visit(root, (changed) => changed, true, true)
  return sites
}
