import t from 'tap'
import { invalidQuantity, parseQuantity } from '../../../src/devcluster/apimachinery/quantity.ts'

const quantities: readonly (readonly [text: string, amount: number])[] = [
  ['1', 1],
  ['1n', 1e-9],
  ['1u', 1e-6],
  ['1m', 1e-3],
  ['1k', 1e3],
  ['1M', 1e6],
  ['1G', 1e9],
  ['1T', 1e12],
  ['1P', 1e15],
  ['1E', 1e18],
  ['1Ki', 1024],
  ['1Mi', 1024 ** 2],
  ['1Gi', 1024 ** 3],
  ['1Ti', 1024 ** 4],
  ['1Pi', 1024 ** 5],
  ['1Ei', 1024 ** 6],
  ['2e3', 2000],
  ['2E-1', 0.2],
  ['-1.5Gi', -1.5 * 1024 ** 3],
  ['+.5', 0.5],
  ['5.', 5],
]

t.test('a quantity is its number times its suffix', async (t) => {
  for (const [text, amount] of quantities) t.equal(parseQuantity(text), amount, text)
})

t.test('a number is a quantity without a suffix', async (t) => {
  t.equal(parseQuantity(1.5), 1.5)
})

t.test('an invalid quantity has no value', async (t) => {
  for (const value of ['', '.', 'k', '1K', '1ki', '1mi', '1 k', '1e', '1e3k', '0x1', 'Infinity', null, true, {}, undefined])
    t.equal(parseQuantity(value), undefined, JSON.stringify(value))
})

t.test('the message for an invalid quantity is that of kube-apiserver', async (t) => {
  t.equal(invalidQuantity, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
})
