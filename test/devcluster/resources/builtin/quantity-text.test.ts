import t from 'tap'
import { quantityText } from '../../../../src/devcluster/resources/builtin/quantity-text.ts'

t.test('quantities are printed in the canonical form of Kubernetes', async (t) => {
  for (const [given, expected] of [
    ['0', '0'],
    ['0Mi', '0'],
    [1, '1'],
    [1.5, '1500m'],
    ['1.5', '1500m'],
    ['1000m', '1'],
    ['-1001m', '-1001m'],
    ['1000000000', '1G'],
    ['1500k', '1500k'],
    ['2048Mi', '2Gi'],
    ['2000Mi', '2000Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['1.0001Ki', '1024102400u'],
    ['1e10', '10e9'],
    ['1E3', '1e3'],
    ['1e-3', '1e-3'],
    ['1n', '1n'],
    ['0.1n', '1n'],
    ['5E', '5E'],
    ['x', 'x'],
    ['', ''],
  ] as const)
    t.equal(quantityText(given), expected, String(given))
})
