"""Merges the tables that ops_elementwise_test and ops_tensor_test write (KILN_OPERATIONS_TABLE=FILE) into docs/operations.md."""

import pathlib
import sys

INTRO = """# Operations

Every operation of the tensor level on every element type. `ok` means that for this operation and type, in `ops_elementwise_test` or
`ops_tensor_test`:

- the compiled object and the interpreter of the unoptimised graph agree bit for bit (any NaN equals any NaN), the operations of the
  second table with 1 and with 3 workers;
- both agree with a reference in the test that shares no code with the compiler: exactly, and for `exp`, `exp2`, `log`, `log2`, `sin`,
  `cos`, `tan`, `tanh`, `erf` and `pow` within 4 ulp for f64, 2 ulp for f32 and 1 ulp for f16 and bf16 of the C library's long double
  function;
- the values include zeros of both signs, denormals (of f16: in the second table only), infinities, NaN and the extremes of integers; the extents include 0, 1, odd and
  prime ones, and for reductions, chains of `fma` and `iota` one beyond a block of 65536; they are symbolic and static.

`-` means that the type is not accepted (`compiler/ir/typing.h`); `FAIL` that a comparison failed. `cast` and `bitcast` are listed by
the operand's type and cover every result type. `reduce fma` is the chain behind `matmul`, `dot` and `conv2d`. The rules of rounding and
of reduction order are in [numbers](reference/numbers.md).

To regenerate, in the build directory:

```text
KILN_OPERATIONS_TABLE=elementwise.md tests/ops_elementwise_test
KILN_OPERATIONS_TABLE=tensor.md tests/ops_tensor_test
python3 ../tests/run/make_operations_page.py elementwise.md tensor.md ../docs/operations.md
```
"""


def rows(path):
    lines = pathlib.Path(path).read_text().splitlines()
    header, body = lines[:2], sorted(line for line in lines[2:] if line)
    if not body:
        sys.exit(f"{path}: expected a table, got no rows")
    return header, body


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: make_operations_page.py ELEMENTWISE TENSOR PAGE")
    page = INTRO
    for title, path in zip(("Elementwise", "Movement and reductions"), sys.argv[1:3]):
        header, body = rows(path)
        page += f"\n## {title}\n\n" + "\n".join(header + body) + "\n"
    pathlib.Path(sys.argv[3]).write_text(page)


if __name__ == "__main__":
    main()
