"""Files are written whole or not at all."""

import os
import threading

import pytest

from tabletop.files import whole_file, write_whole


def test_a_file_is_as_it_was_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "deep" / "in" / "x.txt"
    write_whole(path, "old ä")
    with whole_file(path) as part:
        part.write_text("new")
        assert path.read_text(encoding="utf-8") == "old ä"
    assert path.read_text() == "new"
    assert [each.name for each in path.parent.iterdir()] == ["x.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_the_old_file_stays_and_nothing_else(tmp_path, error):
    path = tmp_path / "x.npz"
    path.write_text("old")
    def fail():
        with whole_file(path) as part:
            part.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_half_a_file_is_not_found_by_the_ending_of_a_whole_one(tmp_path):
    with whole_file(tmp_path / "x.npz") as part:
        part.write_text("half")
        assert list(tmp_path.glob("*.npz")) == []


def test_others_may_read_it_as_any_new_file(tmp_path):
    (tmp_path / "usual").write_text("")
    write_whole(tmp_path / "whole", "")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_one_and_a_pipe_is_written_to(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=write_whole, args=(tmp_path / "pipe", "through"))
    writer.start()
    assert (tmp_path / "pipe").read_text() == "through"
    writer.join()


def test_a_folder_that_is_none_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        write_whole(tmp_path / "file" / "x", "")
    with pytest.raises(OSError, match=r"[Ii]s a directory"):
        write_whole(tmp_path, "")
