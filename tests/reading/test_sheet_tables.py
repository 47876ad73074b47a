"""Several tables in one sheet or CSV file, and headers of several rows."""

from __future__ import annotations

import pytest
from reading_files import read


def tables(tmp_path, rows):
    """Return the rows of each table that is read of a CSV file, and the lines between them."""
    blocks = read(tmp_path, "a.csv", rows).text.split("\n\n")
    return [
        [line.strip("| ").split(" | ") for line in block.split("\n") if "| --- |" not in line]
        if block.startswith("|")
        else block
        for block in blocks
    ]


@pytest.mark.parametrize(
    ("below", "found"),
    [
        (
            "\nArticle,Price,Size\nRug,12.5,L\n",
            [[["Article", "Price", "Size"], ["Rug", "12.5", "L"]]],
        ),
        (
            "\nPrices,,\n\nArticle,Price,\nRug,12.5,\n",
            ["Prices", [["Article", "Price"], ["Rug", "12.5"]]],
        ),
        (
            "Prices,,\nArticle,Price,\nRug,12.5,\n",
            ["Prices", [["Article", "Price"], ["Rug", "12.5"]]],
        ),
        ("\nCosts,Qty,\nRent,7,\n", [[["Costs", "Qty"], ["Rent", "7"]]]),
        (
            "\nArticle,2023,2024\nRug,5,6\nMat,7,8\n",
            [[["Article", "2023", "2024"], ["Rug", "5", "6"], ["Mat", "7", "8"]]],
        ),
        (
            "\nName,Town,Phone,Mail\nAnn,Kiel,home,a@x\nBo,Bonn,work,b@x\n",
            [
                [
                    ["Name", "Town", "Phone", "Mail"],
                    ["Ann", "Kiel", "home", "a@x"],
                    ["Bo", "Bonn", "work", "b@x"],
                ]
            ],
        ),
        (
            "\n,2023,,2024,\nTown,Q1,Q2,Q1,Q2\nKiel,1,2,3,4\n",
            [[["Town", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"], ["Kiel", "1", "2", "3", "4"]]],
        ),
        ("\nSource: the office of statistics\n", ["Source: the office of statistics"]),
    ],
    ids=[
        "columns",
        "title",
        "title in one block",
        "a name again",
        "years",
        "wider",
        "groups",
        "note",
    ],
)
def test_a_table_further_down_has_its_own_header(tmp_path, below, found):
    first = [["Item", "Qty"], ["Lamp", "3"], ["Mat", "5"], ["Pot", "1"]]
    read_tables = tables(tmp_path, f"Item,Qty\nLamp,3\nMat,5\nPot,1\n{below}")
    assert read_tables == [first, *found]


@pytest.mark.parametrize(
    "row",
    ["Rug,pending", "Rug,n/a", "Rug,", "Total,8", "Rugs", "Rugs\nRed,n/a", "Rug,2024-01-05"],
)
def test_a_row_after_an_empty_one_is_no_header(tmp_path, row):
    after = row.split("\n")
    text = read(tmp_path, "a.csv", f"Item,Qty\nLamp,3\nMat,5\n\n{row}\nDesk,7\nChair,9\n").text
    rows = [tuple(line.split(",")) for line in ["Lamp,3", "Mat,5", *after, "Desk,7", "Chair,9"]]
    written = "".join(f"\n| {name} | {(value or ('',))[0]} |" for name, *value in rows)
    assert text == "| Item | Qty |\n| --- | --- |" + written


@pytest.mark.parametrize(
    "rows",
    [
        "Key,Value\nMode,slow\nName,x\n\nMode,fast\nLimit,10\nSize,20\n",
        "Country,Capital\nEurope,\nSpain,Madrid\n\nAsia,\nJapan,Tokyo\nIndia,Delhi\n",
    ],
)
def test_names_with_values_and_groups_stay_in_one_table(tmp_path, rows):
    assert read(tmp_path, "a.csv", rows).text.count("| --- |") == 1


def test_names_with_values_above_a_table_are_lines(tmp_path):
    text = read(tmp_path, "a.csv", "No.:,12,\nTo:,Ann,\n\nItem,Qty,Price\nLamp,3,4\n").text
    assert text == (
        "No.: 12\n\nTo: Ann\n\n| Item | Qty | Price |\n| --- | --- | --- |\n| Lamp | 3 | 4 |"
    )


COSTS = [["Item", "Cost"], ["Rent", "900"], ["Food", "300"], ["Bus", "80"], ["Tea", "9"]]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (
            "Expenses,,,Income,\nItem,Cost,,Source,Sum\nRent,900,,Salary,2500\n"
            "Food,300,,Interest,12\nBus,80,,Gift,50\nTea,9,,Sale,30\n",
            [
                "Expenses",
                COSTS,
                "Income",
                [
                    *[["Source", "Sum"], ["Salary", "2500"], ["Interest", "12"]],
                    *[["Gift", "50"], ["Sale", "30"]],
                ],
            ],
        ),
        (
            "Item,Cost,,Source,Sum\nRent,900,,Salary,2500\nFood,300,,Gift,50\nBus,80,,,\nTea,9,,,\n",
            [COSTS, [["Source", "Sum"], ["Salary", "2500"], ["Gift", "50"]]],
        ),
        (
            "Item,Cost,,Item,Cost\nRent,900,,Rug,5\nFood,300,,Mat,6\nBus,80,,Cup,7\nTea,9,,Pen,8\n",
            [
                COSTS,
                [["Item", "Cost"], ["Rug", "5"], ["Mat", "6"], ["Cup", "7"], ["Pen", "8"]],
            ],
        ),
    ],
)
def test_tables_side_by_side_have_their_own_headers(tmp_path, rows, found):
    assert tables(tmp_path, rows) == found


@pytest.mark.parametrize(
    "rows",
    [
        "Town,Q1,Q2,,Q1,Q2\nKiel,1,2,,3,4\nHusum,5,6,,7,8\nTotal,6,8,,10,12\n",
        ",2023,,,2024,\nTown,Q1,Q2,,Q3,Q4\nKiel,1,2,,3,4\nHusum,5,6,,7,8\nTotal,6,8,,10,12\n",
        "Name,Age,,Manager,Start\nAnn,31,,Rui,2020\nBob,42,,Rui,2021\nEve,25,,Ana,2024\nSum,98,,,\n",
        "Person,,,Contract,\nName,Age,,Manager,Pay\nAnn,31,,Rui,20\nBob,42,,Rui,21\nEve,25,,Ana,24\n",
    ],
)
def test_empty_columns_within_a_table_divide_nothing(tmp_path, rows):
    assert sum(isinstance(each, list) for each in tables(tmp_path, rows)) == 1


def test_numbers_with_powers_of_ten_are_no_names_of_columns(tmp_path):
    rows = "Sample,Mass\na,2.59E+05\nb,1.2E-7\nc,3E6\n\n4E5,9E5,2E5\n1,2,3\n4,5,6\n"
    assert len(tables(tmp_path, rows)) == 1
