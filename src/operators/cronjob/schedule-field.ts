/**
 * Parses one field of a schedule. The accepted texts are those of the standard parser of github.com/robfig/cron (v3), with two exceptions.
 * Empty items of a list, and ranges that begin with `*` or `?`, are errors here.
 */

/** Maximum length of a field in characters. A list of all 60 minutes has 169 characters. */
export const maxFieldLength = 200

export interface FieldRange {
  readonly min: number
  readonly max: number
  /** The names of the values from `min` to `max`. If absent, the values have no names. */
  readonly names?: readonly string[]
}

export interface Field {
  /** The selected values in ascending order. */
  readonly values: readonly number[]
  /** True if the field, or an item of its list, is `*` or `?` without a step or with the step 1. Such a field selects all values. */
  readonly isStar: boolean
}

/**
 * Parses an item, or a list of items. An item is `*`, `?`, a value (`5`) or a range (`1-5`), with or without a step (`/2`). If the text is
 * invalid, returns an error message.
 */
export function parseField(text: string, range: FieldRange): Field | string {
  if (text.length > maxFieldLength) return `has ${text.length} characters, expected at most ${maxFieldLength}`
  const parts = text.split(',').map((item) => parseItem(item, range))
  const problem = parts.find((part) => typeof part === 'string')
  if (problem !== undefined) return problem
  const fields = parts.filter((part) => typeof part !== 'string')
  const values = new Set(fields.flatMap((part) => part.values))
  return { values: [...values].sort((a, b) => a - b), isStar: fields.some((part) => part.isStar) }
}

function parseItem(item: string, range: FieldRange): Field | string {
  const { min, max } = range
  const [, selected = '', step = ''] = /^([^/]*)(\/[1-9][0-9]*)?$/.exec(item) ?? []
  const [, low = '', high] = /^([*?]|[0-9]+|[A-Za-z]+)(?:-([0-9]+|[A-Za-z]+))?$/.exec(selected) ?? []
  const every = step === '' ? 1 : Number(step.slice(1))
  const isWild = low === '*' || low === '?'
  if (low === '' || (isWild && high !== undefined)) return `"${item}" is no number, range or step, such as 5, 1-5 or */10`
  // `5/10` is every tenth value from 5 to the maximum.
  const last = isWild || (high === undefined && step !== '') ? max : valueOf(high ?? low, range)
  const first = isWild ? min : valueOf(low, range)
  for (const value of [first, last])
    if (value === undefined || value < min || value > max) return `"${item}" is outside of ${namesOf(range)}`
  if (first! > last!) return `"${item}" begins after its end`
  const values = Array.from({ length: Math.floor((last! - first!) / every) + 1 }, (_, index) => first! + index * every)
  return { values, isStar: isWild && every === 1 }
}

function valueOf(text: string, { min, names = [] }: FieldRange): number | undefined {
  if (/^[0-9]+$/.test(text)) return Number(text)
  const index = names.indexOf(text.toUpperCase())
  return index === -1 ? undefined : min + index
}

function namesOf({ min, max, names = [] }: FieldRange): string {
  return names.length === 0 ? `${min} to ${max}` : `${min} to ${max} and ${names[0]} to ${names.at(-1)}`
}
