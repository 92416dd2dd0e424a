import t from 'tap'
import { forbidden, invalid } from '../../src/api/field-error.ts'
import { kubectlText } from '../../src/cli/kubectl-text.ts'
import type { OfflineReview } from '../../src/webhook/validate-offline.ts'

const valid: OfflineReview = { known: true, kind: 'Thing', name: 'a', valid: true, errors: [], warnings: [] }
const first = forbidden('spec.a', 'not now')
const second = invalid('spec.b', 1, 'must be 2')

const cases: [string, Partial<OfflineReview>, string][] = [
  ['a valid object', {}, 'a.yaml: Thing "a" is valid\n'],
  ['an unknown kind', { known: false }, 'a.yaml: Thing "a" skipped: no operator knows this kind\n'],
  ['one error', { valid: false, errors: [first] }, 'a.yaml: The Thing "a" is invalid: spec.a: Forbidden: not now\n'],
  [
    'several errors, by their fields',
    { valid: false, errors: [second, first] },
    'a.yaml: The Thing "a" is invalid: \n* spec.a: Forbidden: not now\n* spec.b: Invalid value: 1: must be 2\n',
  ],
]
for (const [name, review, text] of cases)
  t.test(`${name}, after warnings`, async (t) => {
    t.equal(kubectlText('a.yaml', { ...valid, ...review }), text)
    const warnings = ['careful', 'very']
    t.equal(kubectlText('a.yaml', { ...valid, ...review, warnings }), `Warning: careful\nWarning: very\n${text}`)
  })
